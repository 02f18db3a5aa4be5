import { expect, it, vi } from 'vitest'
import type { DecisionPolicy } from '../../wire/generated.ts'

vi.mock('../../session/store.ts', () => ({ useSession: () => undefined }))

const { consentOf, mayDecide, mayType, neededFor, onlookers, reasonCannotDecide } =
  await import('./permissions.ts')

const request = (...policies: DecisionPolicy[]) => ({
  policies,
  author: { id: 'ana', name: 'Ana' },
})

it('leaves a suggestion to others where the policy says so', () => {
  expect(reasonCannotDecide(request('not_requester'), { id: 'ana', role: 'owner' })).toBe(
    'You asked for this, so somebody else decides it.',
  )
  expect(reasonCannotDecide(request('not_requester'), { id: 'bo', role: 'reviewer' })).toBeNull()
  expect(reasonCannotDecide(request('owner'), { id: 'bo', role: 'editor' })).toBe(
    'Only an owner decides this suggestion.',
  )
  expect(reasonCannotDecide(request('owner'), { id: 'ana', role: 'owner' })).toBeNull()
  // Of several, each holds.
  expect(
    reasonCannotDecide(request('not_requester', 'two'), { id: 'ana', role: 'owner' }),
  ).not.toBeNull()
  expect(
    reasonCannotDecide(request('not_requester', 'owner'), { id: 'ana', role: 'owner' }),
  ).not.toBeNull()
})

it('lets everybody else decide but viewers', () => {
  expect(mayDecide(request('any'), { id: 'bo', role: 'reviewer' })).toBe(true)
  expect(mayDecide(request('two'), { id: 'ana', role: 'editor' })).toBe(true)
  expect(mayDecide(request('any'), { id: 'bo', role: 'viewer' })).toBe(false)
})

it('lets those type who write, and not who only reviews', () => {
  const roles = ['owner', 'editor', 'reviewer', 'viewer'] as const
  expect(roles.map((role) => mayType({ id: 'bo', role }))).toEqual([true, true, false, false])
})

it('names everybody who looks once, in however many tabs, and never ourselves', () => {
  const [ana, bo, other] = [
    { id: '1', name: 'Ana' },
    { id: '2', name: 'Bo' },
    { id: '3', name: 'Bo' },
  ]
  expect(onlookers([bo, ana, bo, other], '1')).toEqual(['Bo', 'Bo'])
  expect(onlookers([bo, bo], '1')).toEqual(['Bo'])
})

it('leaves commands to owners, and says so', () => {
  const command = { ...request('any'), document_id: null, preview_type: 'command' as const }
  expect(reasonCannotDecide(command, { id: 'bo', role: 'editor' })).toBe(
    'Only an owner decides about commands.',
  )
  expect(mayDecide(command, { id: 'bo', role: 'owner' })).toBe(true)
  expect(
    reasonCannotDecide({ ...request('owner'), document_id: null }, { id: 'bo', role: 'editor' }),
  ).toBe('Only an owner decides this request.')
})

it('says whose yes is needed and how many there are', () => {
  expect(consentOf({ policies: ['any'], approvals: { have: 0, need: 1 } })).toEqual([])
  expect(
    consentOf({ policies: ['not_requester', 'two'], approvals: { have: 1, need: 2 } }),
  ).toEqual(['Somebody else decides', 'Two approvals', '1 of 2 approvals'])
})

it('asks for the people whom the marks of one change need, and for no more of the others', () => {
  const hunk = { request_id: 'r', status: 'pending' as const, parts: [] }
  const asked = {
    ...request('any'),
    approvals: { have: 0, need: 1 },
    hunks: [
      { ...hunk, id: 'number', policies: ['owner' as const], approvals: { have: 0, need: 1 } },
      { ...hunk, id: 'slip' },
    ],
  }
  const bo = { id: 'bo', role: 'editor' as const }
  expect(mayDecide(neededFor(asked, { id: 'number' }), bo)).toBe(false)
  expect(mayDecide(neededFor(asked, { id: 'slip' }), bo)).toBe(true)
  expect(neededFor(asked, { id: 'slip' })).toBe(asked)
})

it('counts the approvals of several changes as their rows do', () => {
  const two = { policies: ['two' as const], approvals: { have: 0, need: 2 } }
  expect(consentOf(two, { voted: 1, open: 7 })[1]).toBe('1 of 7 has one')
  expect(consentOf(two, { voted: 0, open: 7 })[1]).toBe('0 of 2 approvals')
  const all = { ...two, approvals: { have: 1, need: 2 } }
  expect(consentOf(all, { voted: 7, open: 7 })[1]).toBe('1 of 2 approvals')
})
