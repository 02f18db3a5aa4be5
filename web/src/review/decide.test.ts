import { beforeEach, expect, test, vi } from 'vitest'
import type { Hunk } from '../wire/types.ts'

/** Every call waits until the test answers it: the words on screen can be there before the answer is. */
const calls: { event: string; payload: unknown; answer: (value: unknown) => void; refuse: (error: unknown) => void }[] = []

vi.mock('../session/store.ts', () => ({
  hasCapability: () => true,
  wire: { call: (event: string, payload: unknown) => new Promise((answer, refuse) => calls.push({ event, payload, answer, refuse })) },
}))

const { acceptHunk, forgetLastAccept, undoLastAccept } = await import('./decide.ts')
const { CallError } = await import('../wire/socket.ts')

const hunk = (id: string): Hunk => ({ id, request_id: 'req_1', status: 'pending', parts: [{ from: 0, to: 1, base: 'a', insert: 'b' }] })
const accepted = (id: string) => ({ status: 'partly', approvals: { have: 1, need: 1 }, hunks: [{ id, status: 'accepted' }] })
const settle = () => new Promise((resume) => setTimeout(resume))
const undone = () => calls.filter(({ event }) => event === 'approval:undo').map(({ payload }) => payload)

beforeEach(() => {
  calls.length = 0
  forgetLastAccept()
})

test('Ctrl+Z before the answer to an accept takes back that accept, not the one before', async () => {
  const first = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await first
  const second = acceptHunk(hunk('h2'))
  expect(undoLastAccept()).toBe(true)
  await settle()
  expect(undone()).toEqual([])
  calls[1]!.answer(accepted('h2'))
  await second
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h2'] }])
})

test('an accept that was refused leaves the one before to Ctrl+Z', async () => {
  const first = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await first
  const second = acceptHunk(hunk('h2'))
  calls[1]!.refuse(new CallError({ code: 'already_resolved', message: 'Decided.' }))
  expect(await second).toBe(false)
  undoLastAccept()
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
})

test('what was typed while the answer was on its way is what Ctrl+Z is about', async () => {
  const first = acceptHunk(hunk('h1'))
  forgetLastAccept()
  calls[0]!.answer(accepted('h1'))
  await first
  expect(undoLastAccept()).toBe(false)
})
