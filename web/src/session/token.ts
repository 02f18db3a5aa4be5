/**
 * Who this tab is, and who this browser is when a new tab opens.
 *
 * The secret from the link is taken out of the address bar at once, so that it is neither shared
 * nor shown. It is kept for this tab, and, once the server has taken it, for this browser: else a
 * new tab or a bookmark would ask for a link that people no longer have. What that costs, and why
 * it is this way:
 *
 * - It outlives the tab and lies in the browser's profile. *Sign out* removes it, in all tabs; an
 * owner can revoke it or give it an end.
 * - Scripts of this page could read it. There are only ours (`default-src 'self'`, nothing inline),
 * and they could read `sessionStorage` as well.
 * - Another program that is served under the same host and port later could read it: on a borrowed
 * port, sign out or use a token that ends.
 * - A cookie would be out of reach of scripts, but goes to every server on the host, whatever its
 * port, and along with requests other pages   cause. A header does neither.
 * - A link never replaces who this browser is already: somebody could send one to have others write
 * under a name of his choosing. It counts for   its tab; the person can say that it is to stay.
 */

export interface Identity {
  token: string | undefined
  name: string | undefined
}

const TOKEN = 'copydesk:token'
const NAME = 'copydesk:name'
const SESSION = 'copydesk:session'
/**
 * When somebody last signed out, for the other tabs. That a token is gone does not say so: one that
 * was refused is forgotten too.
 */
const LEFT = 'copydesk:signed-out'

/**
 * Where an identity is kept: for this tab (`sessionStorage`) and for this browser (`localStorage`).
 */
export interface Places {
  tab: Storage
  browser: Storage
}

/**
 * Reads `#token=…&name=…`, remembers both for this tab, and cleans the address. Without a link: who
 * this tab was, or who this browser is.
 */
export function takeIdentity(place: Location, past: History, kept: Places): Identity {
  const fragment = new URLSearchParams(place.hash.slice(1))
  const token = fragment.get('token')
  const name = fragment.get('name')
  if (token !== null) setTabIdentity(kept, { token, name: name ?? undefined })
  else if (name !== null) kept.tab.setItem(NAME, name)
  if (token !== null || name !== null)
    past.replaceState(past.state, '', place.pathname + place.search)
  return identityOf(kept)
}

/** Who this tab is: by its own link, else as this browser. */
export function identityOf({ tab, browser }: Places): Identity {
  const own = tab.getItem(TOKEN)
  const place = own === null ? browser : tab
  return {
    token: place.getItem(TOKEN) ?? undefined,
    name: tab.getItem(NAME) ?? place.getItem(NAME) ?? undefined,
  }
}

/** From now on this tab is somebody else: with a conversation of their own. */
export function setTabIdentity({ tab }: Places, { token, name }: Identity): void {
  if (tab.getItem(TOKEN) !== token) [NAME, SESSION].forEach((key) => tab.removeItem(key))
  put(tab, TOKEN, token)
  if (name !== undefined) tab.setItem(NAME, name)
}

/** The server has taken this token: this browser is that person, unless it is somebody already. */
export function adoptForBrowser(kept: Places, identity: Identity): void {
  if (kept.browser.getItem(TOKEN) === null) setBrowserIdentity(kept, identity)
}

/** This browser is that person, whoever it was. */
export function setBrowserIdentity({ browser }: Places, { token, name }: Identity): void {
  put(browser, TOKEN, token)
  put(browser, NAME, name)
}

/** Whether new tabs of this browser open as somebody else. */
export function isGuest({ browser }: Places, { token }: Identity): boolean {
  const other = browser.getItem(TOKEN)
  return other !== null && other !== token
}

/** The token is not to be used any more, in this tab or in a new one. Somebody else's stays. */
export function forget({ tab, browser }: Places, token: string | undefined): void {
  for (const place of [tab, browser]) {
    if (place.getItem(TOKEN) === (token ?? null))
      [TOKEN, NAME].forEach((key) => place.removeItem(key))
  }
  tab.removeItem(SESSION)
}

/** Tells the other tabs that the person has left. */
export function sayLeft({ browser }: Places): void {
  browser.setItem(LEFT, String(Date.now()))
}

/** What a change in another tab means: somebody left, or this browser is somebody else now. */
export function identityChangeOf(event: Pick<StorageEvent, 'key'>): 'left' | 'other' | undefined {
  // A key of null: everything was cleared.
  if (event.key === LEFT || event.key === null) return 'left'
  return event.key === TOKEN ? 'other' : undefined
}

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

function put(place: Storage, key: string, value: string | undefined): void {
  if (value === undefined) place.removeItem(key)
  else place.setItem(key, value)
}
