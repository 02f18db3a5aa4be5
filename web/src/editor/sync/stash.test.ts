import { expect, it } from 'vitest'
import { stash, stashed, stashOf, unstash } from './stash.ts'

function storage(): Storage {
  const kept = new Map<string, string>()
  return {
    get length() {
      return kept.size
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage
}

it('gives words back once, for their own document', () => {
  const kept = storage()
  stash(kept, 'a', ['one'])
  stash(kept, 'a', ['two'])
  stash(kept, 'b', [])
  expect([unstash(kept, 'b'), unstash(kept, 'a'), unstash(kept, 'a')]).toEqual([
    [],
    ['one', 'two'],
    [],
  ])
})

it('is not upset by what it did not write', () => {
  const kept = storage()
  kept.setItem('copydesk:unsent:a', '{')
  expect(unstash(kept, 'a')).toEqual([])
})

it('shows what waits, of all documents, and leaves it there', () => {
  const kept = storage()
  kept.setItem('copydesk:token', 'secret')
  stash(kept, 'a', ['one'])
  stash(kept, 'b', ['two', 'three'])
  const all = [
    { documentId: 'a', words: ['one'] },
    { documentId: 'b', words: ['two', 'three'] },
  ]
  expect([stashed(kept), stashed(kept)]).toEqual([all, all])
})

it('keeps the latest words of each page that holds some', () => {
  const kept = storage()
  stash(kept, 'a', ['closed'])
  stashOf(kept, 'a', 'tab', ['one'])
  stashOf(kept, 'a', 'tab', ['one more'])
  stashOf(kept, 'a', 'other', ['two'])
  stashOf(kept, 'ab', 'tab', ['elsewhere'])
  expect(stashed(kept)).toEqual([
    { documentId: 'a', words: ['closed', 'one more', 'two'] },
    { documentId: 'ab', words: ['elsewhere'] },
  ])
  stashOf(kept, 'a', 'other', [])
  expect([unstash(kept, 'a'), unstash(kept, 'a')]).toEqual([['closed', 'one more'], []])
})
