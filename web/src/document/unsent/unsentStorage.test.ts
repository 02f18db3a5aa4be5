import { expect, it } from 'vitest'
import { withoutPlace } from './unsentEdit.ts'
import { keepAtOnce, keptAtOnce, merged, type KeptEdits } from './unsentStorage.ts'

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

const held = (documentId: string, page: string, savedAt: number, ...ids: string[]): KeptEdits => ({
  documentId,
  page,
  savedAt,
  edits: ids.map((id) => withoutPlace(`words of ${id}`, id)),
})

it('keeps the latest of each page that holds some, for its own document', () => {
  const kept = storage()
  keepAtOnce(kept, held('a', 'tab', 1, 'one'))
  keepAtOnce(kept, held('a', 'tab', 2, 'one', 'two'))
  keepAtOnce(kept, held('a', 'other', 3, 'three'))
  keepAtOnce(kept, held('b', 'tab', 4, 'four'))
  keepAtOnce(kept, held('a', 'other', 5))
  expect(keptAtOnce(kept)).toEqual([held('a', 'tab', 2, 'one', 'two'), held('b', 'tab', 4, 'four')])
})

it('reads what older pages kept, and is not upset by what it did not write', () => {
  const kept = storage()
  kept.setItem('copydesk:token', 'secret')
  kept.setItem('copydesk:unsent:a', '["closed"]')
  kept.setItem('copydesk:unsent:a#tab', '["one", 2, "two"]')
  kept.setItem('copydesk:unsent:b', '{')
  kept.setItem('copydesk:unsent:c', '{"documentId": "c", "edits": [{}]}')
  kept.setItem('copydesk:unsent:d', '[]')
  const words = keptAtOnce(kept).map(({ documentId, page, edits }) => [
    documentId,
    page,
    edits.flatMap(({ places }) => places.map(({ inserted }) => inserted)),
  ])
  expect(words).toEqual([
    ['a', '', ['closed']],
    ['a', 'tab', ['one', 'two']],
  ])
})

it('takes of what is kept twice the newer, and each edit once', () => {
  const older = held('a', 'tab', 1, 'one')
  const newer = held('a', 'tab', 2, 'one', 'two')
  const taken = held('a', 'next', 3, 'two', 'three')
  expect(merged([newer, older, taken])).toEqual([newer, held('a', 'next', 3, 'three')])
  // The other one is known too, so that it can be forgotten.
  const twice = [held('a', 'x', 1, 'one'), held('a', 'y', 2, 'one')]
  expect(merged(twice)).toEqual([held('a', 'x', 1, 'one'), held('a', 'y', 2)])
})
