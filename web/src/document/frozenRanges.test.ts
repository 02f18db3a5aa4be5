import { ChangeSet } from '@codemirror/state'
import { expect, it } from 'vitest'
import { follow, freeze, isFrozen, thaw, touchesFrozen, within, wordsOf } from './frozenRanges.ts'

const range = (from: number, to: number) => ({ from, to })

it('moves a passage with its words; the edges are outside, and one whose words are gone is gone', () => {
  const changes = ChangeSet.of(
    [
      { from: 2, insert: 'x' },
      { from: 7, to: 9 },
    ],
    10,
  )
  // As in `crates/rooms/src/settings.rs`.
  expect(follow([range(2, 5), range(7, 9)], changes)).toEqual([range(3, 6)])
})

it('joins passages that touch, and keeps them in order', () => {
  expect(freeze([range(20, 30), range(0, 4)], range(4, 22))).toEqual([range(0, 30)])
  expect(freeze([range(20, 30)], range(2, 4))).toEqual([range(2, 4), range(20, 30)])
})

it('thaws a stretch and leaves the rest of its passage frozen', () => {
  expect(thaw([range(0, 10), range(12, 14)], range(4, 6))).toEqual([
    range(0, 4),
    range(6, 10),
    range(12, 14),
  ])
  expect(thaw([range(4, 6)], range(0, 10))).toEqual([])
  expect(thaw([range(4, 6)], range(6, 10))).toEqual([range(4, 6)])
})

it('knows what is frozen wholly and what partly', () => {
  const frozen = [range(4, 8)]
  expect([
    isFrozen(frozen, range(4, 8)),
    isFrozen(frozen, range(3, 8)),
    touchesFrozen(frozen, range(3, 5)),
    touchesFrozen(frozen, range(8, 9)),
  ]).toEqual([true, false, true, false])
})

it('freezes words, not the blanks around them', () => {
  expect(wordsOf('  two words\n', 10)).toEqual(range(12, 21))
  expect(wordsOf(' \n', 3)).toBeNull()
})

it('ignores ranges that make no sense here', () => {
  expect(
    within(
      [range(0, 3), range(3, 3), range(5, 2), range(-1, 2), range(2, 99), { from: 0.5, to: 2 }],
      10,
    ),
  ).toEqual([range(0, 3)])
})
