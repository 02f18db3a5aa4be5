import { beforeEach, expect, test, vi } from 'vitest'
import type { Hunk, ToolApprovalRequest, ToolApprovalResponse } from '../../wire/generated.ts'

const calls: { event: string; payload: unknown; answer: (value: unknown) => void }[] = []

vi.mock('../../session/store.ts', () => ({
  useSession: { getState: () => ({ me: { user: { id: 'me', name: 'Me' } } }) },
  hasCapability: () => true,
  wire: {
    call: (event: string, payload: unknown) =>
      new Promise((answer) => calls.push({ event, payload, answer })),
  },
}))

const { acceptAll, acceptHunk, decideTogether } = await import('../actions/decide.ts')
const { forgetDecisions, undoLastDecision, wasDecidedHere } = await import('../actions/undo.ts')
const { useBusy } = await import('./busy.ts')
const { useDrafts } = await import('./drafts.ts')
const { useOpenDocument } = await import('../../document/useOpenDocument.ts')

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

beforeEach(() => {
  calls.length = 0
  forgetDecisions()
  useBusy.setState({ ids: new Set() })
})

/** The words a change was decided with, by what was sent. */
const sentText = (at: number) =>
  (calls[at]!.payload as ToolApprovalResponse).hunks?.map(({ text }) => text)
const keep = (written: Record<string, string>) => {
  useOpenDocument.setState({ role: 'editor' })
  useDrafts.setState({ written, orphans: [] })
}

test('the edit that is kept is what is accepted', async () => {
  keep({ h1: 'my words', h2: 'others' })
  const one = acceptHunk(hunk('h1'))
  expect(sentText(0)).toEqual(['my words'])
  calls[0]!.answer(accepted('h1'))
  await one
  expect(useDrafts.getState().written).toEqual({ h2: 'others' })
  expect(wasDecidedHere('h1')).toBe(true)
  undoLastDecision()
  expect(wasDecidedHere('h1')).toBe(false)
})

test('an edit stays kept where the change is accepted with other words', async () => {
  keep({ h1: 'my words' })
  const one = acceptHunk(hunk('h1'), { text: 'the proposed words' })
  calls[0]!.answer(accepted('h1'))
  await one
  expect(useDrafts.getState().written).toEqual({ h1: 'my words' })
})

test('changes that are accepted together are accepted with the edits that are kept', async () => {
  keep({ h1: 'my words' })
  const done = decideTogether([hunk('h1'), hunk('h2')], 'accept')
  const { responses } = calls[0]!.payload as { responses: ToolApprovalResponse[] }
  expect(responses[0]!.hunks!.map(({ text }) => text)).toEqual(['my words', undefined])
  calls[0]!.answer({
    results: [{ ...accepted('h1'), ok: true, request_id: 'req_1' }],
  })
  await done
  expect(useDrafts.getState().written).toEqual({})
})

test('a whole suggestion is accepted with the edits that are kept', () => {
  keep({ h1: 'my words', conflicted: 'others' })
  const hunks: Hunk[] = [hunk('h1'), hunk('h2'), { ...hunk('conflicted'), status: 'conflict' }]
  void acceptAll({ request_id: 'req_1', hunks } as ToolApprovalRequest)
  expect(calls[0]!.payload).toMatchObject({
    approved: true,
    hunks: [{ id: 'h1', decision: 'accept', text: 'my words' }],
    finish: 'accept',
  })
})
