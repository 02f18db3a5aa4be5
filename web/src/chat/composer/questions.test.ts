import { expect, it } from 'vitest'
import { questionsFor } from './questions.ts'

const words = (model: string) => questionsFor(model).map((question) => question.words)

it('offers the built-in editor only what it can do', () => {
  expect(words('harper')).toEqual(['Fix'])
  expect(words('anthropic:claude')).toEqual(['Fix', 'Shorten', 'Rephrase'])
})
