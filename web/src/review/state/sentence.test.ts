import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { divide, sentenceOf } from './sentence.ts'

const TEXT = 'Dear all. I went home, and because I was tierd I slept. Then it rained!\nNext line.'
const doc = Text.of(TEXT.split('\n'))

function hunk(base: string, insert: string, id = 'h'): Hunk {
  const from = TEXT.indexOf(base)
  const part = { from, to: from + base.length, base, insert }
  return { id, request_id: 'r', status: 'pending', parts: [part] }
}

it('finds the whole sentence of a change', () => {
  expect(sentenceOf(hunk('tierd', 'tired'), doc, [], 'tired')).toEqual({
    before: 'I went home, and because I was ',
    middle: 'tired',
    after: ' I slept.',
  })
  const [rained, line] = [hunk('rained', 'snowed'), hunk('Next', 'Last')]
  expect(sentenceOf(rained, doc, [], 'snowed')).toMatchObject({ before: 'Then it ', after: '!' })
  expect(sentenceOf(line, doc, [], 'Last')).toMatchObject({ before: '', after: ' line.' })
})

it('goes no further than the next change, and not around whole lines', () => {
  const others = [hunk('home', 'away', 'other'), hunk('slept', 'woke', 'third')]
  expect(sentenceOf(hunk('tierd', 'tired'), doc, others, 'tired')).toMatchObject({
    before: ', and because I was ',
    after: ' I ',
  })
  const lines = hunk('tierd', 'tired.\n\nAnd')
  expect(sentenceOf(lines, doc, [], 'x')).toMatchObject({ before: '', after: '' })
})

const SENTENCE = { before: 'I went home, and ', middle: 'was tired', after: ' then.' }

it.each([
  [
    'in the middle',
    'I went home, and was very tired then.',
    ['I went home, and ', 'was very tired', ' then.'],
  ],
  ['before it', 'I ran home, and was tired then.', ['I ran home, and ', 'was tired', ' then.']],
  ['behind it', 'I went home, and was tired now.', ['I went home, and ', 'was tired', ' now.']],
  ['on both sides', 'I ran home, and slept now.', ['I ran home, and ', 'slept', ' now.']],
  ['all of it', 'Nothing', ['', 'Nothing', '']],
])('sees which part of a sentence was edited: %s', (_, edited, expected) => {
  const { before, middle, after } = divide(SENTENCE, edited)
  expect(before + middle + after).toBe(edited)
  expect([before, middle, after]).toEqual(expected)
})
