/// <reference types="vite/client" />
/** Counts of the words of doc comments, with limits: a reader may come to any of them first. */
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>(['./**/*.ts', './**/*.tsx', '!./wire/generated.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
const comments = Object.values(sources).flatMap((text) =>
  [...text.matchAll(/\/\*\*([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm)].map(([, doc, line]) => ({
    isDoc: doc !== undefined,
    text: (doc ?? line!).replaceAll(/\s*\n\s*\* ?/g, ' ').trim(),
  })),
)

const MOST_QUESTIONS_PERCENT = 3
const MOST_VAGUE_PER_THOUSAND = 0.5

it('has doc comments that begin with a noun or a verb', () => {
  const docs = comments.filter(({ isDoc }) => isDoc)
  const questions = docs.filter(({ text }) =>
    /^(What|Who|Whose|Whether|How|Where|When|Why|It|They|Those)\b/.test(text),
  )
  const percent = (100 * questions.length) / docs.length
  expect(percent, questions.map(({ text }) => text).join('\n')).toBeLessThan(MOST_QUESTIONS_PERCENT)
})

it('names who acts', () => {
  const words = comments.flatMap(({ text }) => text.split(/[^\p{L}’']+/u))
  const vague = words.filter((word) => /^(told|nobody|whoever|somebody)$/i.test(word))
  expect((1_000 * vague.length) / words.length).toBeLessThan(MOST_VAGUE_PER_THOUSAND)
})
