import { beforeEach, expect, it, vi } from 'vitest'
import type { ToolApprovalRequest, Hunk, HunkStatus } from '../../wire/generated.ts'

const call = vi.fn()
const said: string[] = []
vi.mock('../../session/store.ts', () => ({ wire: { call } }))
vi.mock('../../ui/toasts.ts', () => ({ toast: (words: string) => said.push(words) }))

const { proposeAgain, proposeOneAgain, useUnplacedHunks } = await import('./reopen.ts')

const hunk = (id: string, status: HunkStatus): Hunk => ({ id, request_id: 'r', status, parts: [] })
const hunks = [hunk('1', 'accepted'), hunk('2', 'rejected'), hunk('3', 'expired')]
const unplaced = () => [...useUnplacedHunks.getState().ids]

beforeEach(() => {
  said.length = 0
  useUnplacedHunks.setState({ ids: new Set() })
})

it('proposes everything again that was not accepted, and says what found no place', async () => {
  call.mockResolvedValueOnce({ unplaced: ['3'] })
  await proposeAgain({ request_id: 'r', hunks } as unknown as ToolApprovalRequest)
  expect(call).toHaveBeenLastCalledWith('approval:reopen', { request_id: 'r' })
  expect([said[0], unplaced()]).toEqual([
    '1 change back for review. 1 could not be placed: its words are no longer in the text.',
    ['3'],
  ])
})

it('proposes one change again, and forgets that it had no place before', async () => {
  useUnplacedHunks.setState({ ids: new Set(['2', '3']) })
  call.mockResolvedValueOnce({ unplaced: [] })
  await proposeOneAgain(hunks[2]!)
  expect(call).toHaveBeenLastCalledWith('approval:reopen', { request_id: 'r', hunks: ['3'] })
  expect([said[0], unplaced()]).toEqual(['1 change back for review.', ['2']])
})
