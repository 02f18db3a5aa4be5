import { expect, it } from 'vitest'
import type {
  ToolApprovalRequest,
  ToolApprovalUpdate,
  Hunk,
  HunkStatus,
} from '../../wire/generated.ts'
import {
  NO_REQUESTS,
  applyRequest,
  hunksChanged,
  applySnapshot,
  applyResolved,
  tally,
  applyUpdate,
} from './requests.ts'
import { feedbackOnRejectAll, feedbackOnRejectOne } from './modelFeedback.ts'

const hunk = (id: string, status: HunkStatus = 'pending'): Hunk => ({
  id,
  request_id: 'r',
  status,
  parts: [],
})
const request = (id: string, hunks: Hunk[] = []) =>
  ({
    request_id: id,
    status: 'pending',
    hunks,
    approvals: { have: 0, need: 1 },
  }) as unknown as ToolApprovalRequest
const update = (more: Partial<ToolApprovalUpdate>): ToolApprovalUpdate => ({
  request_id: 'r',
  status: 'pending',
  paused: false,
  focused_by: [],
  preview_hash: 'p',
  approvals: { have: 0, need: 1 },
  hunks: [],
  ...more,
})

it('takes a card away that is not in the answer, and keeps resolved ones', () => {
  const before = [request('a'), { ...request('b'), status: 'rejected' as const }].reduce(
    applyRequest,
    NO_REQUESTS,
  )
  expect(Object.keys(applySnapshot(before, [request('c')]).requests).sort()).toEqual(['b', 'c'])
})

it('shows decisions of others on single changes', () => {
  const state = applyUpdate(
    applyRequest(NO_REQUESTS, request('r', [hunk('1'), hunk('2')])),
    update({ hunks: [{ id: '2', status: 'accepted' }], focused_by: [{ id: 'u', name: 'Bo' }] }),
  )
  expect(tally(state.requests.r!.hunks)).toMatchObject({ accepted: 1, open: 1, total: 2 })
  expect(state.viewers.r).toHaveLength(1)
})

it('knows who voted on a change and why one was rejected, until the server says otherwise', () => {
  const [bo, at] = [{ id: 'u', name: 'Bo' }, '2026-11-20T10:00:00Z']
  const vote = { user: 'u', name: 'Bo', decision: 'accept' as const, at }
  const voted = applyUpdate(
    applyRequest(NO_REQUESTS, request('r', [hunk('1'), hunk('2')])),
    update({
      hunks: [
        { id: '1', status: 'pending', votes: [vote] },
        { id: '2', status: 'rejected', by: bo, at, feedback: 'Too formal' },
      ],
    }),
  )
  expect(voted.requests.r!.hunks.map((h) => h.votes)).toEqual([[vote], undefined])
  expect(voted.requests.r!.hunks[1]!.decided?.feedback).toBe('Too formal')
  const gone = applyUpdate(voted, update({ hunks: [{ id: '1', status: 'conflict' }] }))
  expect(gone.requests.r!.hunks.map((h) => h.votes)).toEqual([undefined, undefined])
})

it('knows who decided a single change, and forgets it when the change is open again', () => {
  const [bo, at] = [{ id: 'u', name: 'Bo' }, '2026-11-20T10:00:00Z']
  const decided = applyUpdate(
    applyRequest(NO_REQUESTS, request('r', [hunk('1'), hunk('2')])),
    update({ hunks: [{ id: '1', status: 'accepted', by: bo, at, text: 'mine' }] }),
  )
  expect(decided.requests.r!.hunks.map((h) => h.decided)).toEqual([
    { by: bo, at, text: 'mine' },
    undefined,
  ])
  const ruled = applyUpdate(
    decided,
    update({ hunks: [{ id: '2', status: 'accepted', by: bo, at, rule: 'rul_1' }] }),
  )
  expect(ruled.requests.r!.hunks[1]!.decided).toEqual({ by: bo, at, rule: 'rul_1' })
  expect(
    applyUpdate(decided, update({ hunks: [{ id: '1', status: 'pending' }] })).requests.r!.hunks[0],
  ).toEqual(hunk('1'))
})

it('follows who may decide, where the settings changed meanwhile', () => {
  const known = applyRequest(NO_REQUESTS, { ...request('r'), policies: ['any'] })
  const followed = applyUpdate(known, update({ policies: ['not_requester', 'two'] }))
  expect(followed.requests.r!.policies).toEqual(['not_requester', 'two'])
  expect(applyUpdate(followed, update({})).requests.r!.policies).toEqual(['not_requester', 'two'])
})

it('shows text the model still writes, until its request is there', () => {
  const writing = applyUpdate(
    NO_REQUESTS,
    update({
      status: 'streaming',
      text: 'She read',
      paragraphs: 2,
      requestId: 'run',
      tool_name: 'update_selection',
    }),
  )
  expect(writing.writing).toEqual({
    r: { id: 'r', run: 'run', tool: 'update_selection', text: 'She read', paragraphs: 2 },
  })
  const there = applyRequest(writing, request('r'))
  expect(there.writing).toEqual({})
  expect(applyUpdate(there, update({ status: 'streaming', text: 'late' }))).toBe(there)
})

it('leaves nothing of what came to nothing, and knows what an answer tells of', () => {
  const writing = applyUpdate(NO_REQUESTS, update({ status: 'streaming', text: 'She read' }))
  expect(applyUpdate(writing, update({ status: 'cancelled' })).writing).toEqual({})
  expect(applySnapshot(writing, [], []).writing).toEqual({})
  const streaming = [
    { update: update({ request_id: 'other', status: 'streaming', text: 'He' }), hunks: [] },
  ]
  expect(Object.keys(applySnapshot(writing, [], streaming).writing)).toEqual(['other'])
})

it('remembers how a request ended', () => {
  const done = applyResolved(applyRequest(NO_REQUESTS, request('r', [hunk('1')])), {
    request_id: 'r',
    document_id: 'd',
    status: 'rejected',
    by: { id: 'u', name: 'Bo' },
    rule: 'rul_1',
    unasked: null,
    feedback: 'no',
    hunks: [{ id: '1', status: 'rejected' }],
    report: 'User rejected: no',
  })
  expect(done.requests.r).toMatchObject({
    status: 'rejected',
    rule: 'rul_1',
    feedback: 'no',
    report: 'User rejected: no',
  })
})

it('puts a changed hunk where the old one was', () => {
  const before = applyRequest(NO_REQUESTS, request('r', [hunk('1'), hunk('2')]))
  const state = hunksChanged(before, { drop: [], put: [hunk('1', 'expired'), hunk('3')] })
  expect(state.requests.r!.hunks.map((h) => h.id + h.status)).toEqual([
    '1expired',
    '2pending',
    '3pending',
  ])
})

it('forgets hunks that their writer has put others in the place of, and keeps decided ones', () => {
  const before = applyRequest(NO_REQUESTS, request('r', [hunk('1'), hunk('2'), hunk('3')]))
  const state = hunksChanged(before, { drop: ['1', '2'], put: [hunk('4')] })
  const decided = update({ hunks: [{ id: '2', status: 'rejected' }] })
  expect(applyUpdate(state, decided).requests.r!.hunks.map((h) => h.id + h.status)).toEqual([
    '2rejected',
    '3pending',
    '4pending',
  ])
  const back = hunksChanged(applyUpdate(state, decided), { drop: [], put: [hunk('2')] })
  expect(applyUpdate(back, update({})).requests.r!.hunks.map((h) => h.id)).toEqual(['2', '3', '4'])
})

it('says what the AI will be told', () => {
  expect(feedbackOnRejectAll(request('r', [hunk('1')]), '')).toBe('User rejected the operation')
  expect(feedbackOnRejectAll(request('r', [hunk('1')]), ' too formal ')).toBe(
    'User rejected: too formal',
  )
  expect(feedbackOnRejectAll(request('r', [hunk('1', 'accepted'), hunk('2')]), 'x')).toContain(
    'Partly applied: 1 accepted, 1 rejected.',
  )
  expect(feedbackOnRejectOne(request('r', [hunk('1'), hunk('2')]), 'x')).toContain(
    'User feedback: x',
  )
})
