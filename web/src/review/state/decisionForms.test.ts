import { expect, it, vi } from 'vitest'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { RESULT, feedbackOnEdit, worded } from './modelFeedback.ts'
import { respondForm, approveForm, rejectForm } from './decisionForms.ts'

const request = { request_id: 'r', hunks: [] } as unknown as ToolApprovalRequest

it('shows the very decision that is sent', async () => {
  const send = vi.fn().mockResolvedValue(true)
  for (const way of [
    rejectForm(request, 'Reject', send),
    approveForm(request, 'Approve', send),
    respondForm(request, 'Answer', send),
  ]) {
    await way.send('Because.', undefined)
    expect(send).toHaveBeenLastCalledWith(request, way.draft('Because.', undefined))
  }
  expect(send.mock.calls.map(([, response]) => response as unknown)).toEqual([
    { request_id: 'r', approved: false, feedback: 'Because.' },
    { request_id: 'r', approved: true, note: 'Because.' },
    { request_id: 'r', decision: 'respond', message: 'Because.' },
  ])
})

it('says what the AI will be told also where the server does not', () => {
  const send = () => Promise.resolve(true)
  expect(rejectForm(request, '', send).feedback('')).toBe('User rejected the operation')
  expect(rejectForm(request, '', send).feedback('Too soon')).toBe('User rejected: Too soon')
  expect(approveForm(request, '', send).feedback('')).toBe(RESULT)
  expect(approveForm(request, '', send).feedback('Well done')).toBe(
    `${RESULT}\nUser note: Well done`,
  )
  expect(respondForm(request, '', send).feedback('It is in the cellar.')).toBe(
    'It is in the cellar.',
  )
  expect(feedbackOnEdit({ content: 'x' })).toContain(
    'executed input: {"content":"x"}. Do not re-issue the original.',
  )
})

it('puts no word into the mouth of a call that has not run', () => {
  const runs = (before: string, after: string) =>
    worded({ text: '', is_error: false, state: 'runs', before, after }, '')
  expect(runs('', '')).toBe(RESULT)
  expect(runs('', '\nUser note: Approved.')).toBe(`${RESULT}\nUser note: Approved.`)
  expect(runs('Note: edited.', '')).toBe(`Note: edited.\n${RESULT}`)
  const text = 'User rejected: no\nApproved.'
  expect(worded({ text, is_error: true, state: 'complete' }, '')).toBe(text)
})

it('says what will be said once it is decided, while others still have to agree', () => {
  const waiting = (soFar: string, otherwise: string) =>
    worded({ text: '', is_error: false, state: 'waiting', so_far: soFar }, otherwise)
  expect(waiting('', RESULT)).toBe(RESULT)
  expect(waiting('\nUser note: mine', 'What was applied')).toBe(
    'What was applied\n\nUser note: mine',
  )
})
