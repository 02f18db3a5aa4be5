import { expect, it } from 'vitest'
import { wordDiff } from './wordDiff.ts'

const shown = (before: string, after: string): string =>
  wordDiff(before, after)
    .map(({ kind, text }) =>
      kind === 'same' ? text : kind === 'gone' ? `[-${text}-]` : `{+${text}+}`,
    )
    .join('')

it.each([
  [
    'one word',
    'The lamp burned all night.',
    'The lamp glowed all night.',
    'The lamp [-burned-]{+glowed+} all night.',
  ],
  ['at the end', 'It was cold.', 'It was cold and wet.', 'It was cold{+ and wet+}.'],
  ['all of it', 'one', 'two', '[-one-]{+two+}'],
  ['nothing', 'the same', 'the same', 'the same'],
  ['from nothing', '', 'new words', '{+new words+}'],
  ['to nothing', 'old words', '', '[-old words-]'],
  ['two places', 'a b c d e', 'a x c y e', 'a [-b-]{+x+} c [-d-]{+y+} e'],
  ['other letters', 'Üben wir größer', 'Üben wir kleiner', 'Üben wir [-größer-]{+kleiner+}'],
])('marks what differs: %s', (_, before, after, expected) => {
  expect(shown(before, after)).toBe(expected)
})

it('gives both texts back, also of long ones', () => {
  const long = (word: string) => Array.from({ length: 1_500 }, (_, at) => `${word}${at}`).join(' ')
  for (const [before, after] of [
    ['a b a b c', 'b a c a b'],
    [long('x'), long('y')],
  ] as const) {
    const pieces = wordDiff(before, after)
    const side = (not: string) => pieces.filter(({ kind }) => kind !== not).map(({ text }) => text)
    expect([side('new').join(''), side('gone').join('')]).toEqual([before, after])
  }
})
