import { expect, it } from 'vitest'
import { takeIdentity } from './token.ts'

function storage(): Storage {
  const kept = new Map<string, string>()
  return { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) } as Storage
}

it('takes the token out of the address and keeps it for the tab', () => {
  const kept = storage()
  const replaced: unknown[] = []
  const past = { state: null, replaceState: (...how: unknown[]) => replaced.push(how[2]) } as unknown as History
  const place = { hash: '#token=abc&name=Ana%20B', pathname: '/d/1', search: '' } as Location
  expect(takeIdentity(place, past, kept)).toEqual({ token: 'abc', name: 'Ana B' })
  expect(replaced).toEqual(['/d/1'])
  expect(takeIdentity({ ...place, hash: '' }, past, kept)).toEqual({ token: 'abc', name: 'Ana B' })
  expect(replaced).toHaveLength(1)
})
