import { expect, it } from 'vitest'
import { markedLines, markWords } from './marks.ts'

const mark = (id: string, top: number, active = false, unread = false) => ({
  id,
  top,
  active,
  unread,
})

it('has one mark for each line, with the number of its threads', () => {
  const lines = markedLines([mark('b', 52), mark('a', 50), mark('c', 90, false, true)])
  expect(lines.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c']])
  expect(lines.map(markWords)).toEqual(['2 comment threads', 'Comment, unread'])
})

it('leads to one thread after the other', () => {
  const next = (active?: string) =>
    markedLines([mark('a', 50, active === 'a'), mark('b', 50, active === 'b')])[0]?.next
  expect([next(), next('a'), next('b')]).toEqual(['a', 'b', 'a'])
})
