import { expect, it } from 'vitest'
import { followFocus, stay, step } from './focusedCard.ts'

const cards = ['a', 'b', 'c']

it('is at the card that the keyboard or the pointer is in', () => {
  expect(followFocus('a', { by: 'focus', card: 'b' }, cards, null)).toBe('b')
  expect(followFocus('b', { by: 'pointer', card: 'c' }, cards, null)).toBe('c')
  expect(followFocus('b', { by: 'pointer', card: 'over' }, cards, null)).toBe('b')
})

it('stays with who writes, wherever the pointer lies and whatever scrolls', () => {
  expect(followFocus('a', { by: 'pointer', card: 'c' }, cards, 'b')).toBe('b')
  expect(followFocus('b', { by: 'scroll', inView: ['c'] }, cards, 'b')).toBe('b')
  // What is written in is no card any more.
  expect(followFocus('a', { by: 'pointer', card: 'c' }, cards, 'gone')).toBe('c')
})

it('follows the scrolling only when the card is out of sight', () => {
  expect(followFocus('a', { by: 'scroll', inView: ['a', 'b'] }, cards, null)).toBe('a')
  expect(followFocus('a', { by: 'scroll', inView: ['b', 'c'] }, cards, null)).toBe('b')
  expect(followFocus('a', { by: 'scroll', inView: [] }, cards, null)).toBe('a')
})

it('goes to what follows a card that is decided', () => {
  expect(stay(null, [], cards)).toBe('a')
  expect(stay('b', cards, ['a', 'c'])).toBe('c')
  expect(stay('c', cards, ['a', 'b'])).toBe('b')
  expect(stay('a', cards, ['new', 'b', 'c'])).toBe('b')
  expect(stay('a', ['a'], [])).toBeNull()
  expect(stay('b', cards, cards)).toBe('b')
})

it('steps from card to card and not beyond', () => {
  expect([
    step('a', 1, cards),
    step('b', -1, cards),
    step('c', 1, cards),
    step('a', -1, cards),
  ]).toEqual(['b', 'a', undefined, undefined])
  expect([step(null, 1, cards), step('gone', -1, cards), step(null, 1, [])]).toEqual([
    'a',
    'a',
    undefined,
  ])
})
