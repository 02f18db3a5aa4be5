import { expect, it } from 'vitest'
import { countWords, outline } from './textStatistics.ts'

it('counts words as a writer does', () => {
  expect(countWords('The keeper’s long-lost ledger, 1911.')).toBe(5)
  expect(countWords('  \n')).toBe(0)
})

it('finds headings with their places, not in code', () => {
  const text = '# One *two*\n\n```\n# no\n```\n## Three ##\n#no'
  expect(outline(text)).toEqual([
    { level: 1, text: 'One two', at: 0 },
    { level: 2, text: 'Three', at: text.indexOf('## Three') },
  ])
})
