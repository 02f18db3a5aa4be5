import { afterEach, expect, it, vi } from 'vitest'
import {
  endSignIn,
  signInAddress,
  signInFailureWords,
  signInLink,
  takeSignInFailure,
} from './identityProvider.ts'

afterEach(() => vi.unstubAllGlobals())

const answering = (status: number, body: unknown) =>
  vi.stubGlobal('fetch', () =>
    Promise.resolve({ ok: status === 200, json: () => Promise.resolve(body) }),
  )

it('offers to sign in only where the server says so', async () => {
  answering(200, { url: 'https://desk.example/sign-in' })
  expect(await signInAddress()).toBe('https://desk.example/sign-in')
  answering(200, { url: null })
  expect(await signInAddress()).toBeNull()
  answering(404, { url: 'x' })
  expect(await signInAddress()).toBeNull()
  vi.stubGlobal('fetch', () => Promise.reject(new Error('offline')))
  expect(await signInAddress()).toBeNull()
})

it('comes back to the document that was asked for', () => {
  expect(signInLink('/sign-in', '/d/doc_1')).toBe('/sign-in?return=%2Fd%2Fdoc_1')
  expect(signInLink('/sign-in', '/')).toBe('/sign-in')
})

it('takes the reason out of the address and says it in words', () => {
  const replaced: unknown[] = []
  const place = { hash: '#sign-in-error=not_admitted', pathname: '/', search: '' } as Location
  const past = {
    state: null,
    // As in a browser: the address is another one at once.
    replaceState: (...how: unknown[]) => {
      replaced.push(how[2])
      place.hash = ''
    },
  } as unknown as History
  expect(takeSignInFailure(place, past)).toBe('not_admitted')
  expect(replaced).toEqual(['/'])
  expect(takeSignInFailure({ ...place, hash: '#token=x' }, past)).toBeUndefined()
  const reasons = ['lost', 'declined', 'unavailable', 'not_admitted', 'busy', 'refused']
  expect(new Set(reasons.map(signInFailureWords)).size).toBe(reasons.length)
})

it('signs out with the token in a header', () => {
  const sent = vi.fn(() => Promise.resolve())
  vi.stubGlobal('fetch', sent)
  endSignIn({ Authorization: 'Bearer abc' })
  expect(sent).toHaveBeenCalledWith(
    '/api/v1/sign-out',
    expect.objectContaining({
      method: 'POST',
      headers: { Authorization: 'Bearer abc', 'Content-Type': 'application/json' },
    }),
  )
})
