/** Whether the server is there, who it says we are, and what it can do. */
import { create } from 'zustand'
import { Wire } from '../wire/socket.ts'
import type { SessionRegistered, WireError } from '../wire/types.ts'
import { forgetSession, keepSession, keepToken, keptSession, takeIdentity } from './token.ts'

export type Link = 'connecting' | 'online' | 'offline' | 'refused'

/** Pause after a refusal that may pass. */
const REFUSED_WAIT_MS = 1_500

interface Session {
  link: Link
  /** Why the server does not want us. */
  refusal: WireError | null
  me: SessionRegistered | null
}

export const useSession = create<Session>()(() => ({ link: 'connecting', refusal: null, me: null }))

const identity = takeIdentity(window.location, window.history, window.sessionStorage)

export const wire = new Wire(() => {
  const sessionId = keptSession(window.sessionStorage)
  return { protocol: 1, ...(identity.token && { token: identity.token }), ...(identity.name && { name: identity.name }), ...(sessionId && { sessionId }) }
})

/** Whether the server offers something beyond the protocol's core; controls for what it cannot do are not shown. */
export function useCapability(name: string): boolean {
  return useSession((session) => session.me?.capabilities.includes(name) ?? false)
}

export function hasCapability(name: string): boolean {
  return useSession.getState().me?.capabilities.includes(name) ?? false
}

/** Connects and keeps {@link useSession} true. */
export function start(): void {
  wire.on('sessionRegistered', (me) => {
    keepSession(window.sessionStorage, me.sessionId)
    useSession.setState({ link: 'online', me, refusal: null })
  })
  wire.onDisconnect(() => useSession.setState({ link: 'offline' }))
  wire.onConnectError((refusal) => {
    if (!refusal) return useSession.setState(({ me }) => ({ link: me ? 'offline' : 'connecting' }))
    if (refusal.code === 'unauthorized' || refusal.code === 'protocol') return useSession.setState({ link: 'refused', refusal })
    // A session that is somebody else's is no reason to stay out: ask for a fresh one.
    if (refusal.code === 'not_allowed') forgetSession(window.sessionStorage)
    // After a refusal socket.io does not try again by itself.
    setTimeout(() => wire.connect(), REFUSED_WAIT_MS)
    useSession.setState({ link: 'offline', refusal })
  })
  window.addEventListener('online', () => wire.connected || wire.connect())
  wire.connect()
}

/** Who we are, for what is fetched over HTTP; never in an address. */
export function credentials(): Record<string, string> {
  return identity.token ? { Authorization: `Bearer ${identity.token}` } : {}
}

/** Tries again with a token typed in by hand. */
export function signIn(token: string): void {
  identity.token = token
  keepToken(window.sessionStorage, token)
  useSession.setState({ link: 'connecting', refusal: null })
  wire.disconnect()
  wire.connect()
}
