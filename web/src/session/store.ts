/** The connection to the server, the person it takes us for, and its capabilities. */
import { create } from 'zustand'
import { CallError, Wire } from '../wire/socket.ts'
import { endSignIn, takeSignInFailure } from './identityProvider.ts'
import { noteMentionsIn } from './mentions.ts'
import type {
  SessionEnded,
  SessionRegistered,
  WireError,
  PermissionMode,
} from '../wire/generated.ts'
import {
  adoptForBrowser,
  forget,
  forgetSession,
  identityChangeOf,
  identityOf,
  isGuest,
  keepSession,
  keptSession,
  type Places,
  sayLeft,
  setBrowserIdentity,
  setTabIdentity,
  takeIdentity,
} from './token.ts'

export type ConnectionState = 'connecting' | 'online' | 'offline' | 'refused'

/** Pause after a refusal that may pass. */
const REFUSED_WAIT_MS = 1_500

interface Session {
  link: ConnectionState
  /** The reason why the server refuses us. */
  refusal: WireError | null
  me: SessionRegistered | null
  /** New tabs of this browser open as another person. */
  guest: boolean
}

export const useSession = create<Session>()(() => ({
  link: 'connecting',
  refusal: null,
  me: null,
  guest: false,
}))

const places: Places = { tab: window.sessionStorage, browser: window.localStorage }
/** The reason why the identity provider could not sign us in; undefined: nothing of the kind. */
export const signInFailure = takeSignInFailure(window.location, window.history)
let identity = takeIdentity(window.location, window.history, places)

export const wire = new Wire(() => {
  const sessionId = keptSession(places.tab)
  return {
    protocol: 1,
    capabilities: ['presence-changes', 'short-updates', 'hunk-changes', 'comments'],
    ...(identity.token && { token: identity.token }),
    ...(identity.name && { name: identity.name }),
    ...(sessionId && { sessionId }),
  }
})

/**
 * Returns whether the server offers something beyond the protocol's core; controls for other things
 * are not shown.
 */
export function useCapability(name: string): boolean {
  return useSession((session) => session.me?.capabilities.includes(name) ?? false)
}

export function hasCapability(name: string): boolean {
  return useSession.getState().me?.capabilities.includes(name) ?? false
}

/** Connects and keeps {@link useSession} true. */
export function start(): void {
  wire.on('sessionRegistered', (me) => {
    keepSession(places.tab, me.sessionId)
    adoptForBrowser(places, identity)
    useSession.setState({ link: 'online', me, refusal: null, guest: isGuest(places, identity) })
  })
  wire.on('comment:unread', (news) => noteMentionsIn(news.documentId, news.mentions))
  wire.on('settings:changed', ({ settings }) =>
    changeMe((me) => ({ settings, permission_mode: modeFor(me, settings.permission_mode) })),
  )
  wire.on('sessionEnded', ({ code, message, at }) => {
    // The token is still good: the server ends the connection, and we come back as its new person.
    if (code === 'token_changed') return
    refused({ code: 'unauthorized', message, details: { reason: code, at } })
  })
  wire.onDisconnect((byServer) => {
    useSession.setState(({ link }) => ({ link: link === 'refused' ? link : 'offline' }))
    // Cut off for being slow, or the server stops: socket.io comes back by itself only where the
    // connection broke.
    if (byServer)
      setTimeout(() => useSession.getState().link === 'offline' && wire.connect(), REFUSED_WAIT_MS)
  })
  wire.onConnectError((refusal) => {
    if (!refusal) return useSession.setState(({ me }) => ({ link: me ? 'offline' : 'connecting' }))
    if (refusal.code === 'unauthorized' || refusal.code === 'protocol') return refused(refusal)
    // A session of another person is no reason to stay out: ask for a fresh one.
    if (refusal.code === 'not_allowed') forgetSession(places.tab)
    // After a refusal socket.io does not try again by itself.
    setTimeout(() => wire.connect(), REFUSED_WAIT_MS)
    useSession.setState({ link: 'offline', refusal })
  })
  window.addEventListener(
    'online',
    () => useSession.getState().link === 'refused' || wire.connected || wire.connect(),
  )
  window.addEventListener('storage', (event) => followOtherTabs(identityChangeOf(event)))
  wire.connect()
}

/** Changes what is known of our own session, if there is one. */
function changeMe(change: (me: SessionRegistered) => Partial<SessionRegistered>): void {
  useSession.setState(({ me }) => ({ me: me && { ...me, ...change(me) } }))
}

/** The server's mode, if our questions may have it. */
function modeFor(me: SessionRegistered, mode: PermissionMode): PermissionMode {
  return me.permission_modes.includes(mode) ? mode : 'sdk'
}

/**
 * We are not wanted, at least not like this. The connection goes first, so that open documents put
 * unsent words aside before their page does.
 */
function refused(refusal: WireError): void {
  wire.disconnect()
  if (refusal.code === 'unauthorized' && identity.token !== undefined) {
    forget(places, identity.token)
    // Not the same as a first visit, for which nothing was refused.
    useSession.setState({ link: 'refused', refusal, guest: identityOf(places).token !== undefined })
  } else {
    useSession.setState({
      link: 'refused',
      refusal: refusal.code === 'unauthorized' ? NOBODY : refusal,
      guest: false,
    })
  }
}

/** The code of a connection without an identity. */
const NOBODY: WireError = {
  code: 'unauthorized',
  message: 'a token is needed',
  details: { reason: 'nobody' },
}
const SIGNED_OUT: WireError = {
  code: 'unauthorized',
  message: 'you are signed out',
  details: { reason: 'signed_out' },
}

/**
 * The reason why we are out: `token_revoked`, `token_expired`, `nobody`, `signed_out`, or nothing
 * the server would say.
 */
export function reasonOf(refusal: WireError | null): string | undefined {
  const details = refusal?.details as Partial<Record<'reason', unknown>> | null | undefined
  return typeof details?.reason === 'string' ? details.reason : undefined
}

/** The end of the token, for people. */
export function endedAt(refusal: WireError | null): string | undefined {
  const details = refusal?.details as Partial<Pick<SessionEnded, 'at'>> | null | undefined
  return typeof details?.at === 'string' ? details.at : undefined
}

/** Signed out or in elsewhere: a tab that is who the browser is goes along. */
function followOtherTabs(what: ReturnType<typeof identityChangeOf>): void {
  const isOut = useSession.getState().link === 'refused'
  const { token } = identityOf(places)
  if (what === 'left' && !isOut && token === undefined) leave()
  else if (what === 'other' && isOut && token !== undefined) become()
  else if (what === 'other')
    useSession.setState({ guest: isOut ? token !== undefined : isGuest(places, identity) })
}

/** Headers that identify us for requests over HTTP; never in an address. */
export function credentials(): Record<string, string> {
  return identity.token ? { Authorization: `Bearer ${identity.token}` } : {}
}

/** Tries again with a token typed in by hand. */
export function signIn(token: string): void {
  setTabIdentity(places, { token, name: undefined })
  become()
}

/** Forgets this tab's link and goes on as the person of this browser. */
export function goOnAsBefore(): void {
  forget(places, identity.token)
  become()
}

/** Names the owner, for everybody and for good; what stands in the way, if something does. */
export async function nameMyself(name: string): Promise<string | null> {
  try {
    const { user } = await wire.call('token:name', { name })
    changeMe(() => ({ user }))
    // Others see it once we have come in again.
    wire.disconnect()
    wire.connect()
    return null
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return error.message
  }
}

/** Returns whether the person who runs this server has no name yet. */
export function isNameless(me: SessionRegistered | null): boolean {
  return me?.role === 'owner' && me.user.name === 'Owner' && me.capabilities.includes('tokens')
}

/** Returns whether the copy editor that needs no model answers: it can correct, but not invent. */
export const isCorrector = (me: SessionRegistered | null): boolean =>
  me?.models[0]?.startsWith('harper') ?? false

/** New tabs open as this person, too. */
export function stay(): void {
  setBrowserIdentity(places, identity)
  useSession.setState({ guest: false })
}

/** Out, in every tab that is the same person. */
export function signOut(): void {
  if (identity.token !== undefined) endSignIn(credentials())
  forget(places, identity.token)
  sayLeft(places)
  leave()
}

function leave(): void {
  identity = { token: undefined, name: undefined }
  wire.disconnect()
  useSession.setState({
    link: 'refused',
    refusal: SIGNED_OUT,
    guest: identityOf(places).token !== undefined,
    me: null,
  })
}

function become(): void {
  identity = identityOf(places)
  wire.disconnect()
  useSession.setState({ link: 'connecting', refusal: null, me: null })
  wire.connect()
}
