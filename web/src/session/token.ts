/** The secret from the link: kept for this tab, taken out of the address bar so that it is neither shared nor shown. */

export interface Identity { token: string | undefined; name: string | undefined }

const TOKEN = 'copydesk:token'
const NAME = 'copydesk:name'

/** Reads `#token=…&name=…`, remembers both for this tab, and cleans the address. */
export function takeIdentity(place: Location, past: History, kept: Storage): Identity {
  const fragment = new URLSearchParams(place.hash.slice(1))
  const token = fragment.get('token')
  const name = fragment.get('name')
  if (token !== null) kept.setItem(TOKEN, token)
  if (name !== null) kept.setItem(NAME, name)
  if (token !== null || name !== null) past.replaceState(past.state, '', place.pathname + place.search)
  return { token: kept.getItem(TOKEN) ?? undefined, name: kept.getItem(NAME) ?? undefined }
}


const SESSION = 'copydesk:session'

/** The conversation this tab goes on with, also after a reload. */
export function keptSession(kept: Storage): string | undefined {
  return kept.getItem(SESSION) ?? undefined
}

export function keepSession(kept: Storage, id: string): void {
  kept.setItem(SESSION, id)
}

export function forgetSession(kept: Storage): void {
  kept.removeItem(SESSION)
}

export function keepToken(kept: Storage, token: string): void {
  kept.setItem(TOKEN, token)
}
