import { expect, it } from 'vitest'
import { tabIcon, tabTitle, waitingWords } from './tabTitle.ts'

const all = (count: number) => ({ mine: count, all: count })

it('says how many changes wait, if some do', () => {
  expect(tabTitle('The Keeper', all(16))).toBe('(16) The Keeper · Copydesk')
  expect(tabTitle('The Keeper', all(0))).toBe('The Keeper · Copydesk')
  expect(tabTitle('', all(3))).toBe('(3) Copydesk')
})

it('says how many of them wait for who reads it', () => {
  const [some, none] = [
    { mine: 3, all: 7 },
    { mine: 0, all: 7 },
  ]
  expect([some, none].map((waiting) => tabTitle('', waiting))).toEqual([
    '(3 of 7) Copydesk',
    '(0 of 7) Copydesk',
  ])
  expect(
    [all(1), all(7), some, { mine: 1, all: 7 }, none, { mine: 0, all: 1 }].map(waitingWords),
  ).toEqual([
    '1 to review',
    '7 to review',
    '3 of 7 to review',
    '1 of 7 to review',
    '7 for others to review',
    '1 for others to review',
  ])
  expect([some, none, all(0)].map(tabIcon)).toEqual([
    '/favicon-waiting.svg',
    '/favicon-others.svg',
    '/favicon.svg',
  ])
})

it('says how often people mention us, too', () => {
  expect(tabTitle('The Keeper', all(0), 1)).toBe('(@1) The Keeper · Copydesk')
  expect(tabTitle('', all(3), 2)).toBe('(3, @2) Copydesk')
})
