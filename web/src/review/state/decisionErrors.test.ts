import { expect, it } from 'vitest'
import { CallError } from '../../wire/socket.ts'
import { wordsFor } from './decisionErrors.ts'

const refused = (code: string, details?: unknown) =>
  wordsFor(new CallError({ code, message: 'As the server says.', details }))
const at = new Date().toISOString()

it('names who was first, and when', () => {
  const details = {
    status: 'pending',
    hunk: { id: 'h', status: 'accepted' },
    by: { id: 'b', name: 'Bo' },
    at,
  }
  expect(refused('already_resolved', details)).toMatch(/^Bo accepted that change at \d/)
  expect(refused('already_resolved', { ...details, hunk: null, status: 'rejected' })).toMatch(
    /^Bo rejected that suggestion at /,
  )
})

it('says what it can where nobody is named', () => {
  expect(refused('already_resolved')).toBe('Someone already reviewed that change.')
  expect(
    refused('already_resolved', {
      status: 'pending',
      hunk: { id: 'h', status: 'obsolete' },
      by: null,
      at: null,
    }),
  ).toBe('The words of that change were deleted meanwhile.')
  expect(refused('something_new')).toBe('As the server says.')
})
