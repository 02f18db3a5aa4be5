/** Signing in with the identity provider that the server names, and what may go wrong there. */

/** The fragment with which the server sends back whom it could not sign in. */
const FAILED = '#sign-in-error='

/**
 * Address at which a browser signs in; null: the server has no identity provider, or does not say.
 */
export async function signInAddress(): Promise<string | null> {
  try {
    const answer = await fetch('/api/v1/sign-in')
    const offer = (await answer.json()) as { url?: unknown }
    return answer.ok && typeof offer.url === 'string' ? offer.url : null
  } catch {
    return null
  }
}

/** The same with the place to come back to. */
export function signInLink(address: string, pathname: string): string {
  return pathname.startsWith('/d/') ? `${address}?return=${encodeURIComponent(pathname)}` : address
}

/** Takes the reason of a failed sign-in out of the address. */
export function takeSignInFailure(place: Location, past: History): string | undefined {
  const { hash } = place
  if (!hash.startsWith(FAILED)) return undefined
  past.replaceState(past.state, '', place.pathname + place.search)
  return hash.slice(FAILED.length)
}

/** The same reason in words. */
export function signInFailureWords(reason: string): string {
  switch (reason) {
    case 'lost':
      return 'Signing in took too long, or began in another window. Try again.'
    case 'declined':
      return 'You were not signed in: your provider says that you did not agree.'
    case 'unavailable':
      return 'Your identity provider does not answer. Try again in a moment.'
    case 'not_admitted':
      return 'You’re signed in but have no access here. Ask an owner.'
    case 'busy':
      return 'Too many people are signing in, or are signed in. Try again in a moment.'
    default:
      return 'What your identity provider said could not be confirmed, so you were not signed in. Try again; if it stays so, tell an owner.'
  }
}

/** Ends a sign-in on the server; a link stays good, so that it brings its holder back. */
export function endSignIn(credentials: Record<string, string>): void {
  void fetch('/api/v1/sign-out', {
    method: 'POST',
    headers: { ...credentials, 'Content-Type': 'application/json' },
    body: '{}',
    keepalive: true,
  }).catch(() => undefined)
}
