import { expect, it } from 'vitest'
import { paddingOf } from './tables.ts'

/** The rows as they are shown. */
const shown = (rows: readonly string[]): string[] =>
  paddingOf(rows).map((paddings, number) => {
    let row = rows[number]!
    for (const { at, text } of paddings.toReversed()) row = row.slice(0, at) + text + row.slice(at)
    return row
  })

it('aligns columns as their dashes say', () => {
  const rows = [
    '| Light | Height | Since |',
    '|:--|--:|:-:|',
    '| Fell | 7 m | 1911 |',
    '|Sark|112 m||',
  ]
  expect(shown(rows)).toEqual([
    '| Light | Height | Since |',
    '|:------|-------:|:-----:|',
    '| Fell  |    7 m | 1911  |',
    '|Sark   |   112 m|       |',
  ])
})

it('takes bars at the edges and escaped bars as GitHub does', () => {
  expect(shown(['a | b', '--|--', 'long | x', 'c \\| d | y'])).toEqual([
    'a      | b',
    '-------|--',
    'long   | x',
    'c \\| d | y',
  ])
})

it('leaves wide tables and rows that are too long or too short as they are', () => {
  const wide = ['| a | b |', '|---|---|', `| ${'long '.repeat(20)}| b |`]
  expect(shown(wide)).toEqual(wide)
  expect(shown(['| a | b |', '|---|---|', '| a | b | more |', '| a |'])).toEqual([
    '| a | b |',
    '|---|---|',
    '| a | b | more |',
    '| a |',
  ])
})
