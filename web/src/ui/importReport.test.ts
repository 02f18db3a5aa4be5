import { expect, test } from 'vitest'
import { importWords, proposedBy, reportWords } from './importReport.ts'
import type { ImportedDocument } from '../wire/generated.ts'

test('what was lost and what waits is said, and silence means nothing', () => {
  expect(reportWords({ leftOut: [], decided: [] })).toBe('')
  const by = (name: string, changes: number) => ({
    author: { id: 'ana', name: 'Ana' },
    claimedAuthor: { name },
    hunks: Array.from({ length: changes }, () => ({})),
  })
  const imported = {
    requests: [by('Bo', 3), by('Cy', 1)],
    comments: 2,
    report: {
      leftOut: [
        { kind: 'comment', count: 1 },
        { kind: 'text box', count: 2 },
      ],
      decided: [{ kind: 'table without a heading', count: 2 }],
    },
  } as unknown as ImportedDocument
  expect(importWords(imported)).toBe(
    'Left out: 1 comment, 2 text boxes; what is left out stays in the file. ' +
      'Decided: 2 tables without a heading. ' +
      '3 tracked changes by Bo to review. 1 tracked change by Cy to review. ' +
      '2 comments are beside the text.',
  )
  const only = { requests: [], report: { leftOut: [], decided: [] } }
  expect(importWords({ ...only, comments: 1 } as never)).toBe('1 comment is beside the text.')
  expect(importWords({ ...only, comments: 0 } as never)).toBe('')
})

test('a change is said to be of whoever the file names, else of the AI', () => {
  const author = { id: 'ana', name: 'Ana' }
  expect(proposedBy({ author })).toBe('AI, asked by Ana')
  expect(proposedBy({ author, claimedAuthor: { name: 'Bo' } })).toBe('Bo in Word')
})
