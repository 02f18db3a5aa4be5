import { beforeEach, expect, test, vi } from 'vitest'
import type { ToolApprovalRequest, Hunk } from '../../wire/generated.ts'

/** Every call waits until the test answers it: the words on screen can be there before the answer is. */
const calls: {
  event: string
  payload: unknown
  answer: (value: unknown) => void
  refuse: (error: unknown) => void
}[] = []

vi.mock('../../session/store.ts', () => ({
  hasCapability: () => true,
  wire: {
    call: (event: string, payload: unknown) =>
      new Promise((answer, refuse) => calls.push({ event, payload, answer, refuse })),
  },
}))

const { acceptHunk, decideBatch, forgetLastAccept, rejectHunk, undo, undoAnyway, undoLastAccept } =
  await import('./decide.ts')
const { acceptanceOfAll } = await import('./responses.ts')
const { useOverwrite } = await import('./overwrite.ts')
const { useReview } = await import('./store.ts')
const { useToasts } = await import('../../ui/toasts.ts')
const { CallError } = await import('../../wire/socket.ts')

const hunk = (id: string): Hunk => ({
  id,
  request_id: 'req_1',
  status: 'pending',
  parts: [{ from: 0, to: 1, base: 'a', insert: 'b' }],
})
const accepted = (id: string) => ({
  status: 'partly',
  approvals: { have: 1, need: 1 },
  hunks: [{ id, status: 'accepted' }],
})
const settle = () => new Promise((resume) => setTimeout(resume))
const undone = () =>
  calls.filter(({ event }) => event === 'approval:undo').map(({ payload }) => payload)

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

const suggestion = (id: string, ...hunks: string[]) =>
  ({
    request_id: id,
    preview_hash: `of ${id}`,
    hunks: hunks.map((name) => ({ ...hunk(name), request_id: id })),
  }) as unknown as ToolApprovalRequest

test('several suggestions are decided in one message, with the previews on the screen, and Ctrl+Z takes all of it back', async () => {
  const requests = [suggestion('a', 'a1', 'a2'), suggestion('b', 'b1')]
  useReview.setState({
    requests: Object.fromEntries(requests.map((request) => [request.request_id, request])),
  })
  const done = decideBatch(requests, (request) => acceptanceOfAll(request))
  expect(calls[0]!.payload).toEqual({
    responses: [
      { request_id: 'a', approved: true, preview_hash: 'of a' },
      { request_id: 'b', approved: true, preview_hash: 'of b' },
    ],
  })
  expect(await decideBatch(requests, (request) => acceptanceOfAll(request))).toBe(false)
  const ok = (id: string, ...hunks: string[]) => ({
    ok: true,
    request_id: id,
    ...accepted(hunks[0]!),
    hunks: hunks.map((name) => ({ id: name, status: 'accepted' })),
  })
  calls[0]!.answer({ results: [ok('a', 'a1', 'a2'), ok('b', 'b1')] })
  expect(await done).toBe(true)
  undoLastAccept()
  await settle()
  calls.at(-1)!.answer({})
  await settle()
  expect(undone()).toEqual([
    { request_id: 'b', hunks: ['b1'] },
    { request_id: 'a', hunks: ['a1', 'a2'] },
  ])
})

test('a suggestion of a batch that somebody else decided is said, and the others count', async () => {
  const done = decideBatch([suggestion('a', 'a1'), suggestion('b', 'b1')], (request) =>
    acceptanceOfAll(request),
  )
  const lost = {
    ok: false,
    request_id: 'a',
    error: {
      code: 'already_resolved',
      message: '',
      details: { status: 'rejected', by: { id: 'b', name: 'Bo' }, at: new Date().toISOString() },
    },
  }
  calls[0]!.answer({ results: [lost, { ok: true, request_id: 'b', ...accepted('b1') }] })
  expect(await done).toBe(true)
  expect(useToasts.getState().toasts.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^1 suggestion could not be decided: Bo rejected that suggestion at /),
  )
})

test('finishing the rest keeps the other changes from being decided twice, and is undone with them', async () => {
  useReview.setState({ requests: { a: suggestion('a', 'a1', 'a2') } })
  const done = rejectHunk({ ...hunk('a1'), request_id: 'a' }, { rest: 'accept' })
  expect(await acceptHunk({ ...hunk('a2'), request_id: 'a' })).toBe(false)
  calls[0]!.answer({
    ...accepted('a2'),
    hunks: [
      { id: 'a1', status: 'rejected' },
      { id: 'a2', status: 'accepted' },
    ],
  })
  await done
  undoLastAccept()
  await settle()
  expect(undone()).toEqual([{ request_id: 'a', hunks: ['a2'] }])
})

test('undoing words that were touched since asks first, and then overwrites', async () => {
  const asked = undo('a', ['a1'])
  calls[0]!.refuse(new CallError({ code: 'conflicted', message: 'Touched.' }))
  await asked
  useToasts.getState().toasts.at(-1)!.action!.run()
  expect(undone()).toEqual([
    { request_id: 'a', hunks: ['a1'] },
    { request_id: 'a', hunks: ['a1'], force: true },
  ])
})

test('an undo that would overwrite words shows both texts, and then overwrites only what was shown', async () => {
  const asked = undo('a', ['a1'])
  const touched = [{ id: 'a1', stands: 'My own sentence.', restores: 'Teh' }]
  calls[0]!.refuse(
    new CallError({ code: 'conflicted', message: 'Touched.', details: { hunks: ['a1'], touched } }),
  )
  await asked
  const shown = useOverwrite.getState().asked!
  expect(shown).toEqual({ request_id: 'a', hunks: ['a1'], touched })
  void undoAnyway(shown)
  expect(useOverwrite.getState().asked).toBeNull()
  expect(undone().at(-1)).toEqual({
    request_id: 'a',
    hunks: ['a1'],
    force: true,
    seen: [{ id: 'a1', stands: 'My own sentence.' }],
  })
})
