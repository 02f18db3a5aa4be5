import { expect, it } from 'vitest'
import { plainText } from './plainText.ts'

it.each([
  ['One *two*, **three *four* five** and ~~six~~', 'One two, three four five and six'],
  ['A test of \\[1\\] things', 'A test of [1] things'],
  ['A test of [1] things', 'A test of [1] things'],
  ['5\\*4 is 20, 5*4 too, and 5 * 4 * 3 is 60', '5*4 is 20, 5*4 too, and 5 * 4 * 3 is 60'],
  [
    'snake\\_case\\_name and snake_case_name, _really_',
    'snake_case_name and snake_case_name, really',
  ],
  ['[the *ledger* \\[1\\]](https://a.example) and ![a lamp](b)', 'the ledger [1] and a lamp'],
  ['`a_b` in C:\\Users', 'a_b in C:\\Users'],
])('reads %j as a person does', (markdown, words) => {
  expect(plainText(markdown)).toBe(words)
})
