import { expect, it } from 'vitest'
import type { Hunk, ToolApprovalRequest } from '../wire/generated.ts'
import { wordsFor } from './notifications.ts'

const request = (hunks: number) =>
  wordsFor({
    hunks: Array<Hunk>(hunks).fill({} as Hunk),
    author: { id: 'u', name: 'Ana' },
    prompt: 'Fix the grammar',
    document_id: 'd',
  } as Pick<ToolApprovalRequest, 'hunks' | 'author' | 'prompt' | 'document_id'>)

it('says how much waits, and what for', () => {
  expect(request(16)).toEqual({
    title: '16 changes wait for you',
    body: 'AI for Ana: Fix the grammar',
  })
  expect(request(1).title).toBe('1 change waits for you')
  expect(request(0).title).toBe('A request waits for you')
})
