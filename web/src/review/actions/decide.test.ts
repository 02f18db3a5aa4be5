import { history, undo as undoWords } from '@codemirror/commands'
import { EditorState, Transaction, type TransactionSpec } from '@codemirror/state'
import { beforeEach, expect, test, vi } from 'vitest'
import type { LiveDocument } from '../../document/liveDocument.ts'
import { reviewField } from '../text/reviewField.ts'
import type { ToolApprovalRequest, Hunk } from '../../wire/generated.ts'

/**
 * Every call waits until the test answers it: the words on screen can be there before the answer
 * is.
 */
const calls: {
  event: string
  payload: unknown
  answer: (value: unknown) => void
  refuse: (error: unknown) => void
}[] = []

vi.mock('../../session/store.ts', () => ({
  useSession: { getState: () => ({ me: { user: { id: 'me', name: 'Me' } } }) },
  hasCapability: () => true,
  wire: {
    call: (event: string, payload: unknown) =>
      new Promise((answer, refuse) => calls.push({ event, payload, answer, refuse })),
  },
}))

const { acceptHunk, decideBatch, decideTogether, rejectHunk, splitHunk } =
  await import('./decide.ts')
const {
  followDepth,
  forgetDecisions,
  undo,
  undoAnyway,
  undoLastAct,
  undoLastDecision,
  useOverwrite,
} = await import('./undo.ts')
const { useBusy } = await import('../stores/busy.ts')
const { useDrafts } = await import('../stores/drafts.ts')
const { setOpenDocument } = await import('../../document/openDocument.ts')
const { acceptanceOfAll } = await import('../state/responses.ts')
const { useRequests } = await import('../stores/requests.ts')
const { useToasts } = await import('../../ui/toasts.ts')
const { CallError } = await import('../../wire/socket.ts')

/** An editor without a page: what was typed can be undone. */
class Editor {
  state = EditorState.create({ extensions: [history(), reviewField] })
  dispatch(spec: TransactionSpec): void {
    this.state = this.state.update(spec).state
    followDepth(this.state)
  }

  type(insert: string): void {
    this.dispatch({ changes: { from: this.state.doc.length, insert }, userEvent: 'input.type' })
  }
}

function editor(): Editor {
  const view = new Editor()
  setOpenDocument({ id: 'd', view, redraw: () => undefined } as unknown as LiveDocument)
  return view
}

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
  forgetDecisions()
  useBusy.setState({ ids: new Set() })
  setOpenDocument(null)
  useToasts.setState({ toasts: [] })
})

test('Ctrl+Z before the answer to an accept takes back that accept, not the one before', async () => {
  const first = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await first
  const second = acceptHunk(hunk('h2'))
  expect(undoLastAct()).toBe(true)
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
  undoLastAct()
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
})

const rejected = (id: string) => ({ ...accepted(id), hunks: [{ id, status: 'rejected' }] })
const reopened = () =>
  calls.filter(({ event }) => event === 'approval:reopen').map(({ payload }) => payload)
const toasts = () => useToasts.getState().toasts.map(({ text }) => text)

test('a reject is said and can be taken back like an accept, and what was said before goes', async () => {
  const first = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await first
  expect(toasts()).toEqual(['Accepted.'])
  const second = rejectHunk(hunk('h2'), { words: 'Too formal' })
  calls[1]!.answer(rejected('h2'))
  await second
  expect(toasts()).toEqual(['Rejected.'])
  undoLastAct()
  await settle()
  expect([undone(), reopened()]).toEqual([[], [{ request_id: 'req_1', hunks: ['h2'] }]])
  expect(toasts()).toEqual([])
  calls.at(-1)!.answer({ unplaced: [] })
  await settle()
  undoLastAct()
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
})

test('Ctrl+Z goes back through words and decisions in the order they were made', async () => {
  const view = editor()
  view.type('first')
  const one = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await one
  view.type('second')
  expect(undoLastAct()).toBe(false)
  expect(undoWords({ state: view.state, dispatch: (tr) => (view.state = tr.state) })).toBe(true)
  expect(view.state.doc.toString()).toBe('first')
  expect(undoLastAct()).toBe(true)
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
  expect(undoLastAct()).toBe(false)
})

test('words that somebody else took away count no more', async () => {
  const view = editor()
  view.type('first')
  const one = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await one
  view.dispatch({
    changes: { from: 0, to: 5 },
    annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
  })
  view.type('second')
  expect(undoLastAct()).toBe(false)
})

test('U takes back the last decision, whatever was typed since', async () => {
  const view = editor()
  const one = rejectHunk(hunk('h1'))
  calls[0]!.answer(rejected('h1'))
  await one
  view.type('since')
  expect(undoLastDecision()).toBe(true)
  await settle()
  expect(reopened()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
})

test('an edit that is taken back is there to go on with', async () => {
  const one = acceptHunk(hunk('h1'), { text: 'my words' })
  const hunks = [{ id: 'h1', status: 'accepted', text: 'my words' }]
  calls[0]!.answer({ ...accepted('h1'), hunks })
  await one
  undoLastAct()
  await settle()
  expect(useDrafts.getState().written).toEqual({ h1: 'my words' })
})

const voted = (id: string, ...by: string[]) => ({
  id,
  status: 'pending',
  votes: by.map((user) => ({ user, name: user, decision: 'accept' })),
})

test('Ctrl+Z after an approval that waits for others takes back that approval, and no earlier decision', async () => {
  const first = acceptHunk(hunk('h1'))
  calls[0]!.answer(accepted('h1'))
  await first
  const second = acceptHunk(hunk('h2'))
  const hunks = [voted('h2', 'me'), voted('h3', 'bo')]
  calls[1]!.answer({ status: 'pending', approvals: { have: 0, need: 2 }, hunks })
  await second
  expect(toasts()).toEqual(['You approved it. One more approval needed.'])
  useRequests.setState({ requests: { req_1: { ...suggestion('req_1', 'h2', 'h3') } } })
  expect(undoLastAct()).toBe(true)
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h2'], votes_only: true }])
})

test('an approval that others have made a decision since is not taken back, and that is said', async () => {
  const one = acceptHunk(hunk('h1'))
  // Its marks ask for a second person, its request does not.
  const hunks = [{ ...voted('h1', 'me'), approvals: { have: 1, need: 2 } }]
  calls[0]!.answer({ status: 'pending', approvals: { have: 0, need: 1 }, hunks })
  await one
  expect(toasts()).toEqual(['You approved it. One more approval needed.'])
  const now = suggestion('req_1', 'h1')
  now.hunks[0]!.status = 'accepted'
  useRequests.setState({ requests: { req_1: now } })
  expect(undoLastAct()).toBe(true)
  await settle()
  expect(undone()).toEqual([])
  expect(toasts()).toEqual(['Others have decided it since, so your approval can’t be taken back.'])
})

test('approvals of several changes are said, and taken back together', async () => {
  useRequests.setState({ requests: { a: suggestion('a', 'a1', 'a2') } })
  const both = ['a1', 'a2'].map((id) => ({ ...hunk(id), request_id: 'a' }))
  const done = decideTogether(both, 'accept')
  const hunks = [voted('a1', 'me'), voted('a2', 'me')]
  const approvals = { have: 1, need: 2 }
  calls[0]!.answer({
    results: [{ ok: true, request_id: 'a', status: 'pending', approvals, hunks }],
  })
  await done
  expect(toasts()).toEqual(['You approved 2 changes. One more approval needed.'])
  undoLastAct()
  await settle()
  expect(undone()).toEqual([{ request_id: 'a', hunks: ['a1', 'a2'], votes_only: true }])

  // Another person’s approval of the first was there before, and has not been announced to us yet.
  const details = { status: 'partly', hunk: { id: 'a1', status: 'accepted' } }
  calls.at(-1)!.refuse(new CallError({ code: 'already_resolved', message: 'Decided.', details }))
  await settle()
  expect(undone().slice(1)).toEqual([{ request_id: 'a', hunks: ['a2'], votes_only: true }])
  expect(toasts()).toEqual(['Others have decided it since, so your approval can’t be taken back.'])
})

test('Ctrl+Z after a split joins the parts again', async () => {
  const [part] = hunk('h1').parts
  const done = splitHunk({ ...hunk('h1'), parts: [part!, part!] })
  calls[0]!.answer({})
  await done
  expect(toasts()).toEqual(['Split into 2 changes.'])
  expect(undoLastAct()).toBe(true)
  await settle()
  expect(undone()).toEqual([{ request_id: 'req_1', hunks: ['h1'] }])
})

test('changes of several suggestions are decided together, and only they', async () => {
  useRequests.setState({ requests: { a: suggestion('a', 'a1', 'a2'), b: suggestion('b', 'b1') } })
  const [one, other] = [
    { ...hunk('a1'), request_id: 'a' },
    { ...hunk('b1'), request_id: 'b' },
  ]
  void decideTogether([one, other], 'accept')
  const named = (request_id: string, id: string) => ({
    request_id,
    approved: true,
    hunks: [{ id, decision: 'accept' }],
    preview_hash: `of ${request_id}`,
  })
  expect(calls[0]!.payload).toEqual({ responses: [named('a', 'a1'), named('b', 'b1')] })
})

const suggestion = (id: string, ...hunks: string[]) =>
  ({
    request_id: id,
    preview_hash: `of ${id}`,
    hunks: hunks.map((name) => ({ ...hunk(name), request_id: id })),
  }) as unknown as ToolApprovalRequest

test('several suggestions are decided in one message, with the previews on the screen, and Ctrl+Z takes all of it back', async () => {
  const requests = [suggestion('a', 'a1', 'a2'), suggestion('b', 'b1')]
  useRequests.setState({
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
  undoLastAct()
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
  useRequests.setState({ requests: { a: suggestion('a', 'a1', 'a2') } })
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
  undoLastAct()
  await settle()
  calls.at(-1)!.answer({})
  await settle()
  expect(undone()).toEqual([{ request_id: 'a', hunks: ['a2'] }])
  expect(reopened()).toEqual([{ request_id: 'a', hunks: ['a1'] }])
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
