import { expect, it } from 'vitest'
import type { ApprovalRequest, ApprovalUpdate, Hunk, HunkStatus } from '../wire/types.ts'
import { NONE, announced, hunksPut, replaced, resolved, tally, updated } from './store.ts'
import { toldOnRejectAll, toldOnRejectOne } from './told.ts'

const hunk = (id: string, status: HunkStatus = 'pending'): Hunk => ({ id, request_id: 'r', status, parts: [] })
const request = (id: string, hunks: Hunk[] = []) => ({ request_id: id, status: 'pending', hunks, approvals: { have: 0, need: 1 } }) as unknown as ApprovalRequest
const update = (more: Partial<ApprovalUpdate>): ApprovalUpdate => ({ request_id: 'r', status: 'pending', paused: false, focused_by: [], preview_hash: 'p', approvals: { have: 0, need: 1 }, hunks: [], ...more })

it('takes a card away that is not in the answer, and keeps resolved ones', () => {
  const before = [request('a'), { ...request('b'), status: 'rejected' as const }].reduce(announced, NONE)
  expect(Object.keys(replaced(before, [request('c')]).requests).sort()).toEqual(['b', 'c'])
})

it('shows decisions of others on single changes', () => {
  const state = updated(announced(NONE, request('r', [hunk('1'), hunk('2')])), update({ hunks: [{ id: '2', status: 'accepted' }], focused_by: [{ id: 'u', name: 'Bo' }] }))
  expect(tally(state.requests.r!.hunks)).toMatchObject({ accepted: 1, open: 1, total: 2 })
  expect(state.focus.r).toHaveLength(1)
})

it('knows who decided a single change, and forgets it when the change is open again', () => {
  const [bo, at] = [{ id: 'u', name: 'Bo' }, '2026-11-20T10:00:00Z']
  const decided = updated(announced(NONE, request('r', [hunk('1'), hunk('2')])), update({ hunks: [{ id: '1', status: 'accepted', by: bo, at, text: 'mine' }] }))
  expect(decided.requests.r!.hunks.map((h) => h.decided)).toEqual([{ by: bo, at, text: 'mine' }, undefined])
  const ruled = updated(decided, update({ hunks: [{ id: '2', status: 'accepted', by: bo, at, rule: 'rul_1' }] }))
  expect(ruled.requests.r!.hunks[1]!.decided).toEqual({ by: bo, at, rule: 'rul_1' })
  expect(updated(decided, update({ hunks: [{ id: '1', status: 'pending' }] })).requests.r!.hunks[0]).toEqual(hunk('1'))
})

it('follows who may decide, where the settings changed meanwhile', () => {
  const known = announced(NONE, { ...request('r'), policies: ['any'] })
  const followed = updated(known, update({ policies: ['not_requester', 'two'] }))
  expect(followed.requests.r!.policies).toEqual(['not_requester', 'two'])
  expect(updated(followed, update({})).requests.r!.policies).toEqual(['not_requester', 'two'])
})

it('shows text the model still writes, until its request is there', () => {
  const writing = updated(NONE, update({ status: 'streaming', text: 'She read', paragraphs: 2, requestId: 'run', tool_name: 'update_selection' }))
  expect(writing.writing).toEqual({ r: { id: 'r', run: 'run', tool: 'update_selection', text: 'She read', paragraphs: 2 } })
  const there = announced(writing, request('r'))
  expect(there.writing).toEqual({})
  expect(updated(there, update({ status: 'streaming', text: 'late' }))).toBe(there)
})

it('leaves nothing of what came to nothing, and knows what an answer tells of', () => {
  const writing = updated(NONE, update({ status: 'streaming', text: 'She read' }))
  expect(updated(writing, update({ status: 'cancelled' })).writing).toEqual({})
  expect(replaced(writing, [], []).writing).toEqual({})
  const streaming = [{ update: update({ request_id: 'other', status: 'streaming', text: 'He' }), hunks: [] }]
  expect(Object.keys(replaced(writing, [], streaming).writing)).toEqual(['other'])
})

it('remembers how a request ended', () => {
  const done = resolved(announced(NONE, request('r', [hunk('1')])), { request_id: 'r', document_id: 'd', status: 'rejected', by: { id: 'u', name: 'Bo' }, rule: 'rul_1', unasked: null, feedback: 'no', hunks: [{ id: '1', status: 'rejected' }], report: 'User rejected: no' })
  expect(done.requests.r).toMatchObject({ status: 'rejected', rule: 'rul_1', feedback: 'no', report: 'User rejected: no' })
})

it('puts a changed hunk where the old one was', () => {
  const state = hunksPut(announced(NONE, request('r', [hunk('1'), hunk('2')])), [hunk('1', 'expired'), hunk('3')])
  expect(state.requests.r!.hunks.map((h) => h.id + h.status)).toEqual(['1expired', '2pending', '3pending'])
})

it('says what the AI will be told', () => {
  expect(toldOnRejectAll(request('r', [hunk('1')]), '')).toBe('User rejected the operation')
  expect(toldOnRejectAll(request('r', [hunk('1')]), ' too formal ')).toBe('User rejected: too formal')
  expect(toldOnRejectAll(request('r', [hunk('1', 'accepted'), hunk('2')]), 'x')).toContain('Partly applied: 1 accepted, 1 rejected.')
  expect(toldOnRejectOne(request('r', [hunk('1'), hunk('2')]), 'x')).toContain('User feedback: x')
})
