import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import { countWords, outline, titleIn, wordsOf } from './textStatistics.ts'

it('counts words as a writer does', () => {
  expect(countWords('The keeper’s long-lost ledger, 1911.')).toBe(5)
  expect(countWords('  \n')).toBe(0)
})

it('finds headings with their places, not in code', () => {
  const text = '# One *two*\n\n```\n# no\n```\n## Three ##\n#no'
  expect(outline(Text.of(text.split('\n')))).toEqual([
    { level: 1, text: 'One two', at: 0 },
    { level: 2, text: 'Three', at: text.indexOf('## Three') },
  ])
})

it('counts and finds in a long text what it does in a short one, before and after an edit', () => {
  const lines = Array.from({ length: 400 }, (_, at) =>
    at % 50 === 0 ? `## Part ${at}` : at % 90 === 1 ? '```' : `In line ${at} the lamp burned.`,
  )
  const doc = Text.of(lines)
  // Else nothing is kept.
  expect(doc.children).not.toBeNull()
  const at = doc.line(200).from
  for (const now of [doc, doc.replace(at, at, Text.of(['one more', '# New', '']))]) {
    const text = now.toString()
    expect(wordsOf(now)).toBe(countWords(text))
    const headings = outline(now)
    expect(headings.map((heading) => text.slice(heading.at).split('\n')[0])).toEqual(
      headings.map(({ level, text: words }) => `${'#'.repeat(level)} ${words}`),
    )
    expect(headings.length).toBeGreaterThan(2)
  }
})

it.each([
  ['# The long *night*\n\nIt was cold.', 'The long night'],
  ['## The second rank', null],
  ['It was cold.\n# Later', null],
  ['#no heading', null],
  ['# ', null],
])('takes the heading that %j begins with for its title', (text, title) => {
  expect(titleIn(Text.of(text.split('\n')))).toBe(title)
})
