import { expect, test, vi } from 'vitest'
import type { DecisionPolicy, Hunk, HunkVote } from '../../wire/generated.ts'
import { approvedBy, votedCount, votesOf, votesWords } from './votes.ts'

vi.mock('../../session/store.ts', () => ({ useSession: () => undefined }))
const { countedVotes, votedOf } = await import('./votes.ts')

const vote = (name: string, more: Partial<HunkVote> = {}): HunkVote => ({
  user: name.toLowerCase(),
  name,
  decision: 'accept',
  at: '2026-11-20T10:15:30Z',
  ...more,
})
const needs = (need: number, ...policies: DecisionPolicy[]) => ({
  policies,
  approvals: { have: 0, need },
})
const two = needs(2, 'two')

test('who approved is named, and how many are still needed', () => {
  expect(votesWords([vote('Ana')], two, 'bo')).toBe('Approved by Ana, one more person needed.')
  expect(votesWords([vote('Ana')], two, 'ana')).toBe('Approved by you, one more person needed.')
  expect(votesWords([vote('Ana'), vote('Bo')], needs(4, 'two'), 'bo')).toBe(
    'Approved by Ana and you, two more people needed.',
  )
  expect(votesWords([vote('Ana')], needs(2, 'two', 'owner'), 'bo')).toBe(
    'Approved by Ana, one more owner needed.',
  )
  expect(approvedBy([vote('Ana')], 'bo')).toBe('Approved by Ana')
})

test('while nobody approved it, it says for whom it waits', () => {
  expect(votesWords([], two, 'bo')).toBe('Needs two approvals.')
  expect(votesWords([], needs(2, 'two', 'owner'), 'bo')).toBe('Needs two owners’ approvals.')
  expect(votesWords([], needs(1, 'owner'), 'bo', false)).toBe('Needs an owner.')
  expect(votesWords([], needs(1, 'not_requester'), 'bo', false)).toBe('Needs somebody else.')
  // A person who decides alone waits for no one.
  expect(votesWords([], needs(1, 'owner'), 'bo', true)).toBe('')
  expect(votesWords([], needs(1, 'any'), 'bo')).toBe('')
  expect(approvedBy([], 'bo')).toBe('')
})

test('approvals of different words are not added up', () => {
  const votes = [vote('Ana', { text: 'Our' }), vote('Bo'), vote('Cy', { text: 'Our' })]
  expect(votesWords(votes, needs(3, 'two'), undefined)).toBe(
    'Approved by Ana and Cy with the words “Our”, one more person needed. ' +
      'Approved by Bo, two more people needed.',
  )
})

test('an approval of words that somebody changed since does not count until they are back', () => {
  const votes = [vote('Ana'), vote('Bo', { seen: 'teh lamp' })]
  const names = (status: Hunk['status'], stands?: string) =>
    countedVotes({ status, votes }, stands).map(({ name }) => name)
  expect(names('pending')).toEqual(['Ana'])
  expect(names('conflict')).toEqual(['Bo'])
  expect(names('conflict', 'teh lamp')).toEqual(['Bo'])
  expect(names('conflict', 'the lamps')).toEqual([])
})

test('of a batch it says how many changes have an approval', () => {
  const hunk = (id: string, status: Hunk['status'], votes?: HunkVote[]): Hunk => ({
    id,
    request_id: 'r',
    status,
    parts: [],
    ...(votes && { votes }),
  })
  const hunks = [
    hunk('1', 'pending', [vote('Ana')]),
    hunk('2', 'pending'),
    hunk('3', 'accepted', [vote('Ana'), vote('Bo')]),
    hunk('4', 'conflict', [vote('Ana')]),
  ]
  expect(votedOf([{ hunks }])).toEqual({ voted: 1, open: 3 })
  expect(votedCount({ voted: 1, open: 3 })).toBe(
    '1 of 3 changes has an approval and waits for more.',
  )
  expect(votedCount({ voted: 2, open: 3 })).toBe(
    '2 of 3 changes have an approval and wait for more.',
  )
  expect(votedCount({ voted: 0, open: 3 })).toBe('')
})

test('a change with a requirement of its own says how far it is', () => {
  expect(votesOf([], two)).toBe('0 of 2 approvals')
  expect(votesOf([vote('Ana')], two)).toBe('1 of 2 approvals')
  expect(votesOf([], needs(1, 'owner'))).toBe('An owner decides')
})
