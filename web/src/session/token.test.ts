import { expect, it } from 'vitest'
import {
  adoptForBrowser,
  forget,
  identityChangeOf,
  identityOf,
  isGuest,
  keepSession,
  keptSession,
  type Places,
  setBrowserIdentity,
  setTabIdentity,
  takeIdentity,
} from './token.ts'

function storage(): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage
}

const places = (browser = storage()): Places => ({ tab: storage(), browser })

function arrive(hash: string, kept: Places) {
  const replaced: unknown[] = []
  const past = {
    state: null,
    replaceState: (...how: unknown[]) => replaced.push(how[2]),
  } as unknown as History
  const place = { hash, pathname: '/d/1', search: '' } as Location
  return { identity: takeIdentity(place, past, kept), replaced }
}

it('takes the token out of the address and keeps it for the tab', () => {
  const kept = places()
  const { identity, replaced } = arrive('#token=abc&name=Ana%20B', kept)
  expect(identity).toEqual({ token: 'abc', name: 'Ana B' })
  expect(replaced).toEqual(['/d/1'])
  expect(arrive('', kept)).toEqual({ identity: { token: 'abc', name: 'Ana B' }, replaced: [] })
})

it('opens a new tab as the person the server took, and not before it did', () => {
  const kept = places()
  const { identity } = arrive('#token=abc&name=Ana', kept)
  expect(identityOf(places(kept.browser)).token).toBeUndefined()
  adoptForBrowser(kept, identity)
  expect(identityOf(places(kept.browser))).toEqual({ token: 'abc', name: 'Ana' })
})

it('lets no link replace who the browser is', () => {
  const kept = places()
  setBrowserIdentity(kept, { token: 'mine', name: undefined })
  const { identity } = arrive('#token=theirs', kept)
  adoptForBrowser(kept, identity)
  expect(identity.token).toBe('theirs')
  expect(isGuest(kept, identity)).toBe(true)
  expect(identityOf(places(kept.browser)).token).toBe('mine')
  setBrowserIdentity(kept, identity)
  expect([isGuest(kept, identity), identityOf(places(kept.browser)).token]).toEqual([
    false,
    'theirs',
  ])
})

it('forgets a token everywhere and leaves somebody else’s alone', () => {
  const kept = places()
  setBrowserIdentity(kept, { token: 'mine', name: 'Ana' })
  arrive('#token=theirs', kept)
  forget(kept, 'theirs')
  expect(identityOf(kept)).toEqual({ token: 'mine', name: 'Ana' })
  forget(kept, 'mine')
  expect(identityOf(kept)).toEqual({ token: undefined, name: undefined })
})

it('begins a conversation of its own as somebody else', () => {
  const kept = places()
  setTabIdentity(kept, { token: 'mine', name: undefined })
  keepSession(kept.tab, 'ses_1')
  setTabIdentity(kept, { token: 'mine', name: undefined })
  expect(keptSession(kept.tab)).toBe('ses_1')
  setTabIdentity(kept, { token: 'theirs', name: undefined })
  expect(keptSession(kept.tab)).toBeUndefined()
})

it('tells a person who left from a token that was refused', () => {
  expect(
    ['copydesk:signed-out', null, 'copydesk:token', 'copydesk:theme'].map((key) =>
      identityChangeOf({ key }),
    ),
  ).toEqual(['left', 'left', 'other', undefined])
})
