import { afterEach, expect, test, vi } from 'vitest'
import { keep, readKept } from './browserStorage.ts'

afterEach(() => vi.unstubAllGlobals())

test('values are kept, read and removed', () => {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  })
  keep('a', 'yes')
  expect(readKept('a')).toBe('yes')
  keep('a', null)
  expect(readKept('a')).toBeNull()
})

test('a browser that refuses stops nothing', () => {
  const refuses = () => {
    throw new DOMException('no room', 'QuotaExceededError')
  }
  vi.stubGlobal('localStorage', { getItem: refuses, setItem: refuses, removeItem: refuses })
  keep('a', 'yes')
  keep('a', null)
  expect(readKept('a')).toBeNull()
})
