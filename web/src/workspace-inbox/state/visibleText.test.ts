import { expect, it } from 'vitest'
import { diffLines, fieldsOf, inputOf, showInvisible } from './visibleText.ts'

it('shows what could deceive the eye', () => {
  expect(showInvisible('rm\u202e -rf\u0007 ok\ttab\nline')).toBe(
    'rm⟨U+202E⟩ -rf⟨U+0007⟩ ok\ttab\nline',
  )
  expect(showInvisible('a\r\u200bb')).toBe('a⟨U+000D⟩⟨U+200B⟩b')
})

it('knows the lines of a diff, also those that look like its head', () => {
  const lines = ['--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', '--- gone', '+++ new', ' same']
  expect(diffLines(lines).map(({ kind }) => kind)).toEqual([
    'head',
    'head',
    'place',
    'gone',
    'new',
    'same',
  ])
})

it('takes an input apart and puts it together again', () => {
  const input = { file_path: 'a', edits: [{ old_string: '1' }], replace_all: true, limit: 3 }
  expect(fieldsOf(input).map(({ kind }) => kind)).toEqual(['text', 'json', 'switch', 'json'])
  expect(inputOf(fieldsOf(input))).toEqual(input)
  expect(inputOf(fieldsOf('plain'))).toBe('plain')
  expect(() => inputOf([{ name: 'edits', kind: 'json', text: '[' }])).toThrow()
})
