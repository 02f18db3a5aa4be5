import { expect, it } from 'vitest'
import { isTooLong, sizeWarning } from './sizeWarning.ts'

const asked = (length: number, selected: number | null, model = 'anthropic:x') =>
  sizeWarning({ length, selected, model, prompt: 'Shorten it' })

it('warns before something is too large, and not of a passage of a long manuscript', () => {
  expect(asked(100_000, null)).toBeNull()
  expect(asked(500_000, 2_000)).toBeNull()
  expect(asked(100_001, null)).toContain('not rewrite it as a whole')
  expect(asked(500_000, null)).toContain('Select the passage')
  expect(asked(500_000, 150_000)).toContain('150,000')
})

it('warns of a question that the server would refuse', () => {
  const prompt = 'ü'.repeat(131_073)
  expect(sizeWarning({ length: 0, selected: null, model: 'x', prompt })).toContain('too long')
  expect(isTooLong(prompt.slice(1))).toBe(false)
})

it('says what the built-in editor takes', () => {
  expect(asked(500_000, null, 'harper')).toContain('Select a part')
  expect(asked(500_000, 2_000, 'harper')).toBeNull()
})
