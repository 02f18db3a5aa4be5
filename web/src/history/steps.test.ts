import { expect, test } from 'vitest'
import type { HistoryLine } from '../wire/generated.ts'
import { namesIn, stepsOf, titleOf, wordsIn, woven } from './steps.ts'

const ana = { id: 'usr_1', name: 'Ana' }
const bo = { id: 'usr_2', name: 'Bo' }
const line = (version: number, minute: number, more: Partial<HistoryLine> = {}): HistoryLine => ({
  version,
  author: ana,
  at: new Date(2026, 10, 20, 14, minute).toISOString(),
  act: 'typed',
  ...more,
})

test('what somebody writes in one go is one step', () => {
  const steps = stepsOf([
    line(5, 9),
    line(4, 2),
    line(3, 1, { author: bo }),
    line(2, 0),
    line(1, 0),
  ])
  expect(steps.map((step) => [step.from, step.to, namesIn(step)])).toEqual([
    [3, 5, 'Ana'],
    [2, 3, 'Bo'],
    [0, 2, 'Ana'],
  ])
})

test('two people who type at the same time make one step, with the names of both', () => {
  const second = (version: number, seconds: number, author = ana) =>
    line(version, 0, { author, at: new Date(2026, 10, 20, 14, 0, seconds).toISOString() })
  const alternating = Array.from({ length: 40 }, (_, at) =>
    second(41 - at, 50 - at, at % 2 === 0 ? bo : ana),
  )
  const steps = stepsOf([line(43, 12, { author: bo }), ...alternating, line(1, -5)])
  expect(steps.map((step) => [step.from, step.to, namesIn(step)])).toEqual([
    [42, 43, 'Bo'],
    [0, 41, 'Bo and Ana'],
  ])
})

test('who types right after a change was accepted makes a step of their own', () => {
  const steps = stepsOf([line(2, 0, { author: bo }), line(1, 0, { act: 'accepted', origin: 'a' })])
  expect(steps.map(namesIn)).toEqual(['Bo', 'Ana'])
})

test('a pause begins another step, counted from update to update', () => {
  const steps = stepsOf([line(4, 40), line(3, 18), line(2, 9), line(1, 0)])
  expect(steps.map(({ from, to }) => [from, to])).toEqual([
    [3, 4],
    [0, 3],
  ])
})

test('changes of one request are one step, those of another and a restored version are not', () => {
  const steps = stepsOf([
    line(5, 1, { act: 'restored', restored: 2 }),
    line(4, 1, { act: 'restored', restored: 1 }),
    line(3, 0, { act: 'accepted', origin: 'b' }),
    line(2, 0, { act: 'accepted', origin: 'a' }),
    line(1, 0, { act: 'accepted', origin: 'a' }),
  ])
  expect(steps.map(({ to }) => to)).toEqual([5, 4, 3, 2])
  expect(titleOf(steps[0]!)).toBe('Restored an earlier version')
})

test('the version before a large deletion is offered, however soon it came', () => {
  const steps = stepsOf([line(5, 2), line(4, 2, { isLarge: true }), line(3, 1), line(1, 0)])
  expect(steps.map(({ from, to }) => [from, to])).toEqual([
    [3, 5],
    [0, 3],
  ])
})

test('a long answer of an AI that is accepted piece by piece stays one step', () => {
  const accepted = { act: 'accepted', origin: 'a', isLarge: true } as const
  expect(stepsOf([line(2, 0, accepted), line(1, 0, accepted)])).toHaveLength(1)
})

test('words that came and went are counted', () => {
  expect(
    wordsIn([
      { from: 0, to: 3, base: 'Teh', insert: 'The old' },
      { from: 9, to: 9, base: '', insert: 'x' },
    ]),
  ).toEqual({ added: 3, removed: 1 })
})

test('a text and its differences make pieces in order', () => {
  const pieces = woven('Teh lamp', [
    { from: 0, to: 3, base: 'Teh', insert: 'The' },
    { from: 8, to: 8, base: '', insert: '.' },
  ])
  expect(pieces).toEqual([
    { text: 'Teh', is: 'gone' },
    { text: 'The', is: 'new' },
    { text: ' lamp', is: 'same' },
    { text: '.', is: 'new' },
  ])
})
