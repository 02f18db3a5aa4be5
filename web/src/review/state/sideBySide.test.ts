import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { type Pair, shortened, sideBySide } from './sideBySide.ts'

const hunk = (doc: string, base: string, insert: string, at = doc.indexOf(base)): Hunk => ({
  id: `h${at}`,
  request_id: 'r',
  status: 'pending',
  parts: [{ from: at, to: at + base.length, base, insert }],
})
/** Writes words that go in [], words that come in {}. */
const words = ({ original, proposed }: Pair): [string, string] => {
  const side = (pieces: Pair['original']) =>
    pieces
      .map(({ kind, text }) =>
        kind === 'same' ? text : kind === 'gone' ? `[${text}]` : `{${text}}`,
      )
      .join('')
  return [side(original), side(proposed)]
}
const compared = (doc: string, ...hunks: Hunk[]) =>
  sideBySide(Text.of(doc.split('\n')), hunks).map(words)

it('puts each paragraph beside what it would be', () => {
  const doc = '# Lamp\n\nIt burns all night.\n\nNobody saw.'
  expect(compared(doc, hunk(doc, 'burns', 'burned'), hunk(doc, 'saw', 'saw it'))).toEqual([
    ['# Lamp', '# Lamp'],
    ['It [burns] all night.', 'It {burned} all night.'],
    ['Nobody [saw].', 'Nobody {saw it}.'],
  ])
})

it('leaves a place free beside paragraphs that come or go', () => {
  const doc = 'One.\n\nTwo.\n\nThree.'
  expect(compared(doc, hunk(doc, '', '\n\nAnd a half.', 4))).toEqual([
    ['One.', 'One.'],
    ['', '{And a half.}'],
    ['Two.', 'Two.'],
    ['Three.', 'Three.'],
  ])
  expect(compared(doc, hunk(doc, 'Two.\n\n', ''))).toEqual([
    ['One.', 'One.'],
    ['[Two.]', ''],
    ['Three.', 'Three.'],
  ])
  expect(compared(doc, hunk(doc, '\n\nThree.', ''))).toEqual([
    ['One.', 'One.'],
    ['Two.', 'Two.'],
    ['[Three.]', ''],
  ])
})

it('keeps paragraphs together that are joined or divided', () => {
  const doc = 'One.\n\nTwo. Three.'
  expect(compared(doc, hunk(doc, '\n\n', ' '))).toEqual([
    ['One.[\n\n]Two. Three.', 'One.{ }Two. Three.'],
  ])
  expect(compared(doc, hunk(doc, ' ', '\n\n'))).toEqual([
    ['One.', 'One.'],
    ['Two.[ ]Three.', 'Two.{\n\n}Three.'],
  ])
})

it('marks the places of one change, and none that lost its words', () => {
  const doc = 'A b c.'
  const both = hunk(doc, 'A', 'X')
  both.parts.push(...hunk(doc, 'c', 'Z').parts)
  const lost: Hunk = { ...hunk(doc, 'b', 'Y'), status: 'conflict' }
  expect(compared(doc, both, lost)).toEqual([['[A] b [c].', '{X} b {Z}.']])
})

it('leaves out what is far from every change', () => {
  const doc = 'a\nb\nc\nd\ne\nf\ng'
  const pairs = sideBySide(Text.of(doc.split('\n')), [hunk(doc, 'd', 'D')])
  expect(
    shortened(pairs, 1).map((shown) => ('skipped' in shown ? shown.skipped : words(shown))),
  ).toEqual([2, ['c', 'c'], ['[d]', '{D}'], ['e', 'e'], 2])
  expect(shortened(pairs, 0)).toHaveLength(3)
})
