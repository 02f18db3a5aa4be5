import { expect, it } from 'vitest'
import type { ToolApprovalRequest, Hunk, HunkStatus } from '../../wire/generated.ts'
import { decidedHunkText, describeHunkOutcome, outcomeSummary } from './outcomeSummary.ts'

const at = new Date(2026, 10, 20, 14, 2).toISOString()
const by = (name: string, text?: string) => ({
  by: { id: name, name },
  at,
  ...(text !== undefined && { text }),
})
const hunk = (status: HunkStatus, decided?: Hunk['decided']): Hunk => ({
  id: 'h',
  request_id: 'r',
  status,
  parts: [{ from: 0, to: 3, base: 'teh', insert: 'the' }],
  ...(decided && { decided }),
})
const request = (hunks: Hunk[], more = {}) =>
  ({ hunks, status: 'partly', by: null, ...more }) as unknown as ToolApprovalRequest

it('says who decided a change and when', () => {
  expect(describeHunkOutcome(hunk('accepted', by('Bo')))).toMatch(/^Accepted by Bo, .*2/)
  expect(describeHunkOutcome(hunk('accepted', by('Bo', 'th')))).toMatch(
    /^Accepted with edits by Bo/,
  )
  expect(describeHunkOutcome(hunk('rejected', by('Ana')))).toMatch(/^Rejected by Ana/)
  expect(describeHunkOutcome(hunk('expired'))).toBe('Expired before anybody decided')
  expect(describeHunkOutcome(hunk('obsolete'))).toBe('Its words are gone')
  expect(describeHunkOutcome(hunk('pending'))).toBe('')
})

it('names everybody who decided, once', () => {
  const hunks = [
    hunk('accepted', by('Bo')),
    hunk('rejected', by('Ana')),
    hunk('accepted', by('Bo')),
    hunk('obsolete'),
  ]
  expect(outcomeSummary(request(hunks))).toBe(
    '4 changes: 2 accepted, 1 rejected by Bo and Ana, 1 gone with its words',
  )
})

it('names a person once who took another name between two decisions', () => {
  const renamed = { ...by('Bo'), by: { id: 'Bo', name: 'Robert' } }
  const hunks = [hunk('accepted', by('Bo')), hunk('rejected', renamed)]
  expect(outcomeSummary(request(hunks))).toBe('2 changes: 1 accepted, 1 rejected by Robert')
})

it('says that a rule decided, and whose', () => {
  const rule = { ...by('Ana'), rule: 'rul_1' }
  expect(describeHunkOutcome(hunk('accepted', rule), 'Bo')).toMatch(/^Accepted by Ana’s rule, .*2/)
  expect(describeHunkOutcome(hunk('accepted', rule), 'Ana')).toMatch(/^Accepted by your rule, .*2/)
  expect(describeHunkOutcome(hunk('accepted', by('Ana')), 'Ana')).toMatch(/^Accepted by Ana, /)
})

it('does not name the maker of a rule as somebody who decided', () => {
  const [ana, rule] = [
    { id: 'Ana', name: 'Ana' },
    { ...by('Ana'), rule: 'rul_1' },
  ]
  expect(outcomeSummary(request([hunk('accepted', rule)], { by: ana, rule: 'rul_1' }))).toBe(
    'Accepted',
  )
  expect(
    outcomeSummary(
      request([hunk('accepted', rule), hunk('rejected', by('Bo'))], { by: ana, rule: 'rul_1' }),
    ),
  ).toBe('2 changes: 1 accepted, 1 rejected by Bo')
  // One was undone and accepted again by hand.
  expect(
    outcomeSummary(
      request([hunk('accepted', rule), hunk('accepted', by('Bo'))], {
        by: { id: 'Bo', name: 'Bo' },
      }),
    ),
  ).toBe('2 changes: 2 accepted by Ana’s rule and Bo')
})

it('names nobody where nobody was asked', () => {
  expect(
    outcomeSummary(
      request([hunk('accepted', by('Ana'))], { by: { id: 'Ana', name: 'Ana' }, unasked: 'bypass' }),
    ),
  ).toBe('Accepted')
})

it('says it shortly of one change', () => {
  expect(outcomeSummary(request([hunk('rejected', by('Bo'))]))).toBe('Rejected by Bo')
})

it('says how a request without changes ended', () => {
  expect(outcomeSummary(request([], { status: 'rejected', by: { id: 'b', name: 'Bo' } }))).toBe(
    'Rejected by Bo',
  )
  expect(outcomeSummary(request([], { status: 'cancelled' }))).toBe('Cancelled')
})

it('shows the words that were put there, not the proposed ones', () => {
  const words = (of: Hunk) => decidedHunkText(of).map(({ kind, text }) => `${kind}:${text}`)
  expect(words(hunk('accepted', by('Bo', 'THE')))).toEqual(['gone:teh', 'new:THE'])
  expect(words(hunk('rejected', by('Bo')))).toEqual(['gone:teh', 'new:the'])
})
