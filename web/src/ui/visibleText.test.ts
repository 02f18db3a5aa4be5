import { expect, it } from 'vitest'
import { diffLines, fieldsOf, inputOf, showInvisible } from './visibleText.ts'

it('shows what could deceive the eye', () => {
  expect(showInvisible('rm\u202e -rf\u0007 ok\ttab\nline')).toBe(
    'rm⟨U+202E⟩ -rf⟨U+0007⟩ ok\ttab\nline',
  )
  expect(showInvisible('a\r\u200bb')).toBe('a⟨U+000D⟩⟨U+200B⟩b')
})

it('says the lines of a diff and their places, without its head', () => {
  const lines = ['--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', '--- gone', '+++ new', ' same']
  expect(diffLines(lines).map(({ kind }) => kind)).toEqual(['place', 'gone', 'new', 'same'])
  expect(diffLines(lines)[0]?.text).toBe('Line 1')
  expect(diffLines(['', '', '@@ -0,0 +1,4 @@'])[0]?.text).toBe('Line 1')
  expect(diffLines(['', '', '@@ -41,2 +44,3 @@ fn'])[0]?.text).toBe('Line 41')
})

it('takes an input apart and puts it together again', () => {
  const input = { file_path: 'a', edits: [{ old_string: '1' }], replace_all: true, limit: 3 }
  expect(fieldsOf(input).map(({ kind }) => kind)).toEqual(['text', 'json', 'switch', 'json'])
  expect(inputOf(fieldsOf(input))).toEqual(input)
  expect(inputOf(fieldsOf('plain'))).toBe('plain')
  expect(() => inputOf([{ name: 'edits', kind: 'json', text: '[' }])).toThrow()
})
