import { expect, it } from 'vitest'
import { keepUnsent, allUnsent, keepUnsentOfPage, takeUnsent } from './unsentStorage.ts'

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
  keepUnsent(kept, 'a', ['one'])
  keepUnsent(kept, 'a', ['two'])
  keepUnsent(kept, 'b', [])
  expect([takeUnsent(kept, 'b'), takeUnsent(kept, 'a'), takeUnsent(kept, 'a')]).toEqual([
    [],
    ['one', 'two'],
    [],
  ])
})

it('is not upset by what it did not write', () => {
  const kept = storage()
  kept.setItem('copydesk:unsent:a', '{')
  expect(takeUnsent(kept, 'a')).toEqual([])
})

it('shows what waits, of all documents, and leaves it there', () => {
  const kept = storage()
  kept.setItem('copydesk:token', 'secret')
  keepUnsent(kept, 'a', ['one'])
  keepUnsent(kept, 'b', ['two', 'three'])
  const all = [
    { documentId: 'a', words: ['one'] },
    { documentId: 'b', words: ['two', 'three'] },
  ]
  expect([allUnsent(kept), allUnsent(kept)]).toEqual([all, all])
})

it('keeps the latest words of each page that holds some', () => {
  const kept = storage()
  keepUnsent(kept, 'a', ['closed'])
  keepUnsentOfPage(kept, 'a', 'tab', ['one'])
  keepUnsentOfPage(kept, 'a', 'tab', ['one more'])
  keepUnsentOfPage(kept, 'a', 'other', ['two'])
  keepUnsentOfPage(kept, 'ab', 'tab', ['elsewhere'])
  expect(allUnsent(kept)).toEqual([
    { documentId: 'a', words: ['closed', 'one more', 'two'] },
    { documentId: 'ab', words: ['elsewhere'] },
  ])
  keepUnsentOfPage(kept, 'a', 'other', [])
  expect([takeUnsent(kept, 'a'), takeUnsent(kept, 'a')]).toEqual([['closed', 'one more'], []])
})
