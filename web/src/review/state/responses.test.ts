import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { acceptance, rejection } from './responses.ts'

const hunk: Hunk = { id: 'h', request_id: 'r', status: 'pending', parts: [] }

it('carries everything a decision can: other words, a note, the rest', () => {
  expect(acceptance(hunk, { text: 'mine', words: 'Because.', rest: 'reject' })).toEqual({
    request_id: 'r',
    approved: true,
    hunks: [{ id: 'h', decision: 'accept', text: 'mine' }],
    note: 'Because.',
    finish: 'reject',
  })
  expect(rejection(hunk, { words: 'No.', rest: 'accept' })).toEqual({
    request_id: 'r',
    approved: false,
    hunks: [{ id: 'h', decision: 'reject' }],
    feedback: 'No.',
    finish: 'accept',
  })
})

it('says nothing it does not mean', () => {
  expect(acceptance(hunk)).toEqual({
    request_id: 'r',
    approved: true,
    hunks: [{ id: 'h', decision: 'accept' }],
  })
  // An empty text is a text: the words go, and nothing comes.
  expect(acceptance(hunk, { text: '' }).hunks).toEqual([{ id: 'h', decision: 'accept', text: '' }])
})
