import { expect, it, vi } from 'vitest'
import type { ToolApprovalRequest, HunkStatus, RequestStatus } from '../../wire/generated.ts'

const answers: ((answer: unknown) => void)[] = []
vi.mock('../../session/store.ts', () => ({
  hasCapability: () => true,
  wire: { call: () => new Promise((answer) => answers.push(answer)) },
}))

const { loadBin, loadEnded, loadMore, useBin } = await import('./bin.ts')
const { inBin } = await import('../state/refused.ts')
const { explain } = await import('./explain.ts')
const { useRequests } = await import('../stores/requests.ts')
const { useOpenDocument } = await import('../../document/useOpenDocument.ts')
const { CallError } = await import('../../wire/socket.ts')

const request = (request_id: string, status: RequestStatus, hunk: HunkStatus = 'rejected') =>
  ({
    request_id,
    status,
    hunks: [{ id: request_id, status: hunk }],
  }) as unknown as ToolApprovalRequest
const ids = (requests: readonly ToolApprovalRequest[]) =>
  requests.map(({ request_id }) => request_id)
const settle = () => new Promise((resume) => setTimeout(resume))

it('shows what was just refused at the top, and not what waits again', () => {
  const live = {
    c: request('c', 'rejected'),
    b: request('b', 'pending', 'pending'),
    a: request('a', 'rejected'),
  }
  expect(ids(inBin([request('b', 'rejected'), request('a', 'rejected')], 'all', live))).toEqual([
    'c',
    'a',
  ])
})

it('shows a rejected change at once, while others of its request still wait', () => {
  const waiting = {
    ...request('a', 'pending'),
    hunks: [
      { id: 'a1', status: 'rejected' },
      { id: 'a2', status: 'pending' },
    ],
  } as unknown as ToolApprovalRequest
  const [shown] = inBin([request('b', 'rejected')], 'rejected', { a: waiting }).slice(-1)
  expect(shown?.hunks.map(({ id }) => id)).toEqual(['a1'])
  expect(inBin([], 'expired', { a: waiting })).toEqual([])
})

it('holds what was not accepted of a partly accepted request, and nothing of an accepted one', () => {
  expect(
    ids(inBin([request('b', 'partly'), request('a', 'partly', 'accepted')], 'all', {})),
  ).toEqual(['b'])
  expect(ids(inBin([], 'all', { x: request('x', 'approved', 'accepted') }))).toEqual([])
})

it('reads page by page, and an answer to an earlier filter changes nothing', async () => {
  void loadBin('d', 'all')
  void loadBin('d', 'expired')
  answers[1]!({ requests: [request('b', 'expired', 'expired')], more: true })
  answers[0]!({ requests: [request('z', 'rejected')], more: false })
  await settle()
  expect([ids(useBin.getState().requests), useBin.getState().more]).toEqual([['b'], true])
  void loadMore()
  answers[2]!({ requests: [request('a', 'expired', 'expired')], more: false })
  await settle()
  expect([ids(useBin.getState().requests), useBin.getState().more]).toEqual([['b', 'a'], false])
})

it('shows nothing of a document that was left before the answer came', async () => {
  const shown = () => Object.keys(useRequests.getState().requests)
  const comesFor = async (documentId: string, id: string) => {
    void loadEnded(documentId)
    answers.at(-1)!({ requests: [request(`ended ${id}`, 'rejected')] })
    await settle()
    const fresh = { ...request(`waits ${id}`, 'pending', 'pending'), document_id: documentId }
    explain(new CallError({ code: 'stale_preview', message: '', details: fresh }))
  }
  useOpenDocument.setState({ id: 'shown' })
  await comesFor('left', '1')
  expect(shown()).toEqual([])
  await comesFor('shown', '2')
  expect(shown().toSorted()).toEqual(['ended 2', 'waits 2'])
})
