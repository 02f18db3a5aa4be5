import { beforeEach, expect, it, vi } from 'vitest'
import type { ToolApprovalRequest } from '../../wire/generated.ts'

const call = vi.fn()
const said: string[] = []
vi.mock('../../session/store.ts', () => ({
  hasCapability: () => true,
  useSession: {},
  wire: { call },
}))
vi.mock('../../ui/toasts.ts', () => ({ toast: (words: string) => said.push(words) }))

const { proposeAgain, undoFileAction } = await import('./undo.ts')
const { bin } = await import('./bin.ts')
const { useInbox } = await import('./store.ts')
const { WORKSPACE_INBOX, loadBin } = await import('../../review/actions/bin.ts')
const { NO_REQUESTS } = await import('../../review/state/requests.ts')
const { CallError } = await import('../../wire/socket.ts')

const request = (request_id: string) =>
  ({
    request_id,
    tool_name: 'Write',
    file_path: 'a.txt',
    preview_data: {},
    status: 'approved',
    hunks: [],
  }) as unknown as ToolApprovalRequest

beforeEach(() => {
  call.mockReset()
  said.length = 0
  useInbox.setState({ ...NO_REQUESTS, wanted: null, changed: {} })
})

it('takes a file back, and stays at its card', async () => {
  call.mockResolvedValueOnce({ status: 'approved' })
  await undoFileAction(request('1'))
  expect(call).toHaveBeenLastCalledWith('approval:undo', { request_id: '1' })
  expect([said, useInbox.getState().wanted]).toEqual([['Undone: Write a.txt.'], '1'])
})

it('shows what was changed since instead of overwriting it, until somebody says so', async () => {
  const details = {
    hunks: [],
    file_path: 'a.txt',
    exists: true,
    diff_lines: ['+Mine.'],
    document_id: 'doc',
  }
  call.mockRejectedValueOnce(new CallError({ code: 'conflicted', message: 'Changed.', details }))
  await undoFileAction(request('1'))
  expect(useInbox.getState().changed).toEqual({
    1: { file_path: 'a.txt', exists: true, diff_lines: ['+Mine.'], document_id: 'doc' },
  })
  expect(said).toEqual([])
  call.mockResolvedValueOnce({ status: 'approved' })
  await undoFileAction(request('1'), true)
  expect(call).toHaveBeenLastCalledWith('approval:undo', { request_id: '1', force: true })
  expect(useInbox.getState().changed).toEqual({})
})

it('goes to the card of what is proposed again', async () => {
  call.mockResolvedValueOnce({ status: 'pending', request_id: '2', unplaced: [] })
  await proposeAgain(request('1'))
  expect(call).toHaveBeenLastCalledWith('approval:reopen', { request_id: '1' })
  expect(useInbox.getState().wanted).toBe('2')
})

it('reads the bin of the desk with what was approved, and what was read can change later', async () => {
  call.mockResolvedValueOnce({ requests: [request('1')], more: true })
  await loadBin(WORKSPACE_INBOX, 'all', bin)
  expect(call).toHaveBeenLastCalledWith(
    'approval:list',
    expect.objectContaining({
      documentId: 'desk',
      status: expect.arrayContaining(['approved', 'expired']) as unknown,
    }),
  )
  expect(bin.use.getState()).toMatchObject({ more: true, state: 'ready' })
  expect(Object.keys(useInbox.getState().requests)).toEqual(['1'])
})

it('has nothing for whom the desk is not', async () => {
  call.mockRejectedValueOnce(new CallError({ code: 'not_allowed', message: 'No.' }))
  await loadBin(WORKSPACE_INBOX, 'expired', bin)
  expect(bin.use.getState()).toMatchObject({ requests: [], state: 'ready' })
})
