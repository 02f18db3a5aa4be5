import { expect, it } from 'vitest'
import { stash, unstash } from './stash.ts'

function storage(): Storage {
  const kept = new Map<string, string>()
  return { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value), removeItem: (key: string) => void kept.delete(key) } as Storage
}

it('gives words back once, for their own document', () => {
  const kept = storage()
  stash(kept, 'a', ['one'])
  stash(kept, 'a', ['two'])
  stash(kept, 'b', [])
  expect([unstash(kept, 'b'), unstash(kept, 'a'), unstash(kept, 'a')]).toEqual([[], ['one', 'two'], []])
})

it('is not upset by what it did not write', () => {
  const kept = storage()
  kept.setItem('copydesk:unsent:a', '{')
  expect(unstash(kept, 'a')).toEqual([])
})
