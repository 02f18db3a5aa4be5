import { beforeEach, expect, it } from 'vitest'
import { NO_REQUESTS } from '../../review/state/requests.ts'
import type { Wire } from '../../wire/socket.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { splitByWaiting, useInbox, watchInbox } from './store.ts'

const listeners = new Map<string, (payload: unknown) => void>()
const wire = {
  on: (event: string, listener: (payload: unknown) => void) => listeners.set(event, listener),
} as unknown as Wire
watchInbox(wire)
const tell = (event: string, payload: unknown) => listeners.get(event)!(payload)

const request = (id: string, more: Partial<ToolApprovalRequest> = {}) =>
  ({
    request_id: id,
    document_id: null,
    status: 'pending',
    created_at: `2026-01-0${id}`,
    hunks: [],
    preview_hash: 'old',
    ...more,
  }) as unknown as ToolApprovalRequest
const update = (id: string, more: object) => ({
  request_id: id,
  status: 'pending',
  focused_by: [],
  hunks: [],
  preview_hash: 'old',
  approvals: { have: 0, need: 1 },
  paused: false,
  ...more,
})

beforeEach(() => useInbox.setState({ ...NO_REQUESTS, open: false }))

it('takes in requests without a document, and no others', () => {
  tell('tool_approval_request', request('2'))
  tell('tool_approval_request', request('1'))
  tell('tool_approval_request', request('3', { document_id: 'doc' }))
  expect(splitByWaiting(useInbox.getState().requests).waiting.map((it) => it.request_id)).toEqual([
    '1',
    '2',
  ])
})

it('shows the fresh preview once the file has changed', () => {
  tell('tool_approval_request', request('1'))
  tell(
    'tool_approval_update',
    update('1', { fresh: request('1', { preview_hash: 'new', new_content: 'other' }) }),
  )
  expect(useInbox.getState().requests['1']).toMatchObject({
    preview_hash: 'new',
    new_content: 'other',
  })
})

it('says what came of an approved call', () => {
  tell('tool_approval_request', request('1'))
  tell('tool_approval_resolved', {
    request_id: '1',
    status: 'approved',
    by: null,
    feedback: null,
    hunks: [],
    report: 'Approved.',
  })
  tell('tool_approval_update', update('1', { status: 'failed', report: 'Error: gone' }))
  expect(splitByWaiting(useInbox.getState().requests).over[0]).toMatchObject({
    status: 'failed',
    report: 'Error: gone',
  })
})

it('forgets what waited when it connects again, for all of that is told anew', () => {
  tell('tool_approval_request', request('1'))
  tell('tool_approval_request', request('2', { status: 'approved' }))
  tell('sessionRegistered', {})
  expect(Object.keys(useInbox.getState().requests)).toEqual(['2'])
})

it('follows what can be done about a call that is over, and who has done it', () => {
  const aftermath = () => useInbox.getState().requests['1']!.aftermath
  tell(
    'tool_approval_request',
    request('1', { aftermath: { can_undo: false, can_reopen: false, again_of: '0' } }),
  )
  tell('tool_approval_resolved', {
    request_id: '1',
    status: 'approved',
    by: null,
    feedback: null,
    hunks: [],
    report: 'Approved.',
    aftermath: { can_undo: true, can_reopen: false, again_of: '0' },
  })
  expect(aftermath()).toEqual({ can_undo: true, can_reopen: false, again_of: '0' })
  tell('tool_approval_update', update('1', { status: 'approved' }))
  expect(aftermath()?.can_undo).toBe(true)
  const undone = { by: { id: 'b', name: 'Bo' }, at: '2026-01-01T10:00:00Z', forced: false }
  tell(
    'tool_approval_update',
    update('1', {
      status: 'approved',
      report: 'Undone.',
      aftermath: { can_undo: false, can_reopen: true, undone },
    }),
  )
  expect(useInbox.getState().requests['1']).toMatchObject({
    status: 'approved',
    report: 'Undone.',
    aftermath: { can_undo: false, can_reopen: true, undone },
  })
})

it('can do nothing about a call of which nothing was said', () => {
  tell('tool_approval_request', request('1'))
  tell('tool_approval_resolved', {
    request_id: '1',
    status: 'approved',
    by: null,
    feedback: null,
    hunks: [],
    report: 'Approved.',
  })
  expect(useInbox.getState().requests['1']!.aftermath).toBeUndefined()
})
