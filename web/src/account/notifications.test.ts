import { expect, it, vi } from 'vitest'
import type { DocumentLine, Hunk, ToolApprovalRequest } from '../wire/generated.ts'

vi.mock('../session/store.ts', () => ({ useSession: () => undefined }))

const { moreWaiting, wordsFor } = await import('./notifications.ts')

const request = (hunks: number, decides = true) =>
  wordsFor(
    {
      hunks: Array<Hunk>(hunks).fill({} as Hunk),
      author: { id: 'u', name: 'Ana' },
      prompt: 'Fix the grammar',
      document_id: 'd',
    } as Pick<ToolApprovalRequest, 'hunks' | 'author' | 'prompt' | 'document_id'>,
    decides,
  )

it('says how much waits, and what for', () => {
  expect(request(16)).toEqual({
    title: '16 to review',
    body: 'AI, asked by Ana: Fix the grammar',
  })
  expect(request(1).title).toBe('1 to review')
  expect(request(0).title).toBe('1 request to review')
})

it('tells nobody who may not decide it that it waits for them', () => {
  expect(request(16, false).title).toBe('16 changes for others to decide')
})

it('tells a tab that shows the list what has come to wait for who reads it', () => {
  const line = (id: string, waitingForYou: number, waiting = waitingForYou) =>
    ({ id, title: `Of ${id}`, waiting, waitingForYou }) as DocumentLine
  const before = [line('a', 2), line('b', 0), line('c', 3)]
  const now = [line('a', 2), line('b', 0, 5), line('c', 4, 6), line('d', 1)]
  expect(moreWaiting(before, now)).toEqual([
    { title: '4 of 6 to review', body: 'Of c', tag: 'c' },
    { title: '1 to review', body: 'Of d', tag: 'd' },
  ])
})
