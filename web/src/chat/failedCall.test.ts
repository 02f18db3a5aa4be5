import { expect, it } from 'vitest'
import { failedCall } from './failedCall.ts'

it('tells writers what went wrong, not what the model was told', () => {
  const told = [
    'The person\u2019s cursor is not known; give `position`',
    'Only the selected words may be changed, units 0 to 30 ("# The Last\u2026"). This would also change:\n- units 40 to 41',
    'Nothing was proposed:\n- suggestion 1: `original` is not in the document',
    'Invalid input for update_full_document: invalid type',
    'Content too large',
  ]
  for (const words of told) expect(failedCall(words)).not.toMatch(/`|units|input|proposed|_/)
  expect(new Set(told.map(failedCall)).size).toBe(told.length)
})

it('keeps what a person said', () => {
  expect(failedCall('User rejected: too bold\nThe document is at version 3.')).toBe(
    'Rejected: too bold',
  )
  expect(failedCall('User rejected the operation')).toBe('Rejected')
})
