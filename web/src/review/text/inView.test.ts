import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { isSeen, rowScroll } from './inView.ts'
import { markLines } from './lineMarks.ts'
import { alike, corrections, inParagraph } from '../state/similar.ts'

const page = { top: 100, bottom: 600 }
const line = (top: number) => ({ top, bottom: top + 20 })

it('sees a change whose first line and the rest of it are on the page', () => {
  expect(isSeen([line(100), line(120)], page)).toBe(true)
  expect(isSeen([line(580)], page)).toBe(true)
  expect(isSeen([], page)).toBe(false)
})

it('does not see what is above, below, or begins where the page ends', () => {
  expect(isSeen([line(60)], page)).toBe(false)
  expect(isSeen([line(590)], page)).toBe(false)
  expect(isSeen([line(560), line(580), line(600), line(620)], page)).toBe(false)
})

it('sees enough of a change that is taller than the page', () => {
  expect(isSeen([line(150), line(900)], page)).toBe(true)
  expect(isSeen([line(20), line(900)], page)).toBe(true)
  expect(isSeen([line(500), line(1_200)], page)).toBe(false)
})

const mark = (id: string, number: number, top: number, active = false) => ({
  id,
  number,
  top,
  active,
  conflict: false,
})

it('gives each line of the screen one mark, which leads on from change to change', () => {
  const rows = markLines([mark('c', 3, 52, true), mark('a', 1, 10), mark('b', 2, 50)])
  expect(rows.map(({ id, numbers, next, active }) => [id, numbers, next, active])).toEqual([
    ['a', [1], 'a', false],
    ['b', [2, 3], 'b', true],
  ])
  expect(markLines([mark('b', 2, 50, true), mark('c', 3, 50)])[0]!.next).toBe('c')
})

const hunk = (id: string, from: number, base: string, insert: string, more: object = {}): Hunk => ({
  id,
  request_id: 'r',
  status: 'pending',
  parts: [{ from, to: from + base.length, base, insert }],
  ...more,
})

it('finds the same words by the same words, and leaves alone what is in conflict', () => {
  const all = [
    hunk('a', 0, 'teh', 'the'),
    hunk('b', 9, 'teh', 'the'),
    hunk('c', 20, 'teh', 'then'),
    hunk('d', 30, 'teh', 'the', { status: 'conflict' }),
  ]
  expect(alike(all, all[0]!).map(({ id }) => id)).toEqual(['a', 'b'])
})

it('finds corrections by what the server says they are', () => {
  const all = [
    hunk('a', 0, 'teh', 'the', { kind: 'correction' }),
    hunk('b', 9, 'x', 'y', { kind: 'rewrite' }),
    hunk('c', 12, 'x', 'y'),
  ]
  const found = (tool_name: string) => corrections(all, { tool_name }).map(({ id }) => id)
  expect(found('update_full_document')).toEqual(['a'])
  // A name that is replaced by a similar one is no error that is corrected.
  expect(found('find_and_replace')).toEqual([])
})

it('finds the changes of a paragraph: as the server has it, else as the text has it', () => {
  const doc = Text.of(['one two', 'three', '', 'four'])
  const all = [hunk('a', 0, 'one', '1'), hunk('b', 8, 'three', '3'), hunk('c', 15, 'four', '4')]
  expect(inParagraph(all, all[0]!, doc).map(({ id }) => id)).toEqual(['a', 'b'])
  const named = all.map((one, index) => ({ ...one, group: index === 1 ? 1 : 2 }))
  expect(inParagraph(named, named[0]!, doc).map(({ id }) => id)).toEqual(['a', 'c'])
})

it.each([
  ['in view', { top: 120, bottom: 300 }, 0],
  ['below', { top: 500, bottom: 700 }, 200],
  ['above', { top: 20, bottom: 200 }, -80],
  ['longer than the list: its beginning', { top: 300, bottom: 900 }, 200],
])('scrolls a row into a list: %s', (_, row, expected) => {
  expect(rowScroll(row, { top: 100, bottom: 500 })).toBe(expected)
})
