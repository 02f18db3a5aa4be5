/**
 * The identity of this tab, and the one of this browser for new tabs.
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
 * port, and along with requests other pages cause. A header does neither.
 * - A link never replaces who this browser is already: another person could send one to have people
 * write under a name of their choosing. It counts for its tab; the person can say that it is to
 * stay.
 */

export interface Identity {
  token: string | undefined
  name: string | undefined
}

const TOKEN = 'copydesk:token'
const NAME = 'copydesk:name'
const SESSION = 'copydesk:session'
/**
 * Time of the last sign-out, for the other tabs. A missing token does not say so: one that was
 * refused is forgotten too.
 */
const LEFT = 'copydesk:signed-out'

/** Places of an identity: for this tab (`sessionStorage`) and for this browser (`localStorage`). */
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

/** Returns the identity of this tab: by its own link, else as this browser. */
export function identityOf({ tab, browser }: Places): Identity {
  const own = tab.getItem(TOKEN)
  const place = own === null ? browser : tab
  return {
    token: place.getItem(TOKEN) ?? undefined,
    name: tab.getItem(NAME) ?? place.getItem(NAME) ?? undefined,
  }
}

/** From now on this tab is another person: with a conversation of their own. */
export function setTabIdentity({ tab }: Places, { token, name }: Identity): void {
  if (tab.getItem(TOKEN) !== token) [NAME, SESSION].forEach((key) => tab.removeItem(key))
  put(tab, TOKEN, token)
  if (name !== undefined) tab.setItem(NAME, name)
}

/** The server has taken this token: this browser is that person, unless it has a person already. */
export function adoptForBrowser(kept: Places, identity: Identity): void {
  if (kept.browser.getItem(TOKEN) === null) setBrowserIdentity(kept, identity)
}

/** Makes this browser act as that person, also if it acted as another before. */
export function setBrowserIdentity({ browser }: Places, { token, name }: Identity): void {
  put(browser, TOKEN, token)
  put(browser, NAME, name)
}

/** Returns whether new tabs of this browser open as another person. */
export function isGuest({ browser }: Places, { token }: Identity): boolean {
  const other = browser.getItem(TOKEN)
  return other !== null && other !== token
}

/**
 * The token is not to be used any more, in this tab or in a new one. One of another person stays.
 */
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

/**
 * Returns the meaning of a change in another tab: the person left, or this browser is another
 * person now.
 */
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
