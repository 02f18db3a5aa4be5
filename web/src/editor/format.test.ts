import { EditorState, type StateCommand } from '@codemirror/state'
import { expect, it } from 'vitest'
import { continueList } from './markdown/continueList.ts'
import { deleteCharacter, indentItem, indentLines, insertLink } from './format.ts'

/** The text and the caret after a command; `|` is the caret, `[` and `]` a selection. */
function after(command: StateCommand, marked: string): string {
  const text = marked.replace(/[|[\]]/g, '')
  const anchor = marked.search(/[|[]/)
  const head = marked.includes(']') ? marked.indexOf(']') - 1 : anchor
  let state = EditorState.create({ doc: text, selection: { anchor, head } })
  const done = command({ state, dispatch: (tr) => (state = tr.state) })
  const at = state.selection.main
  const doc = state.doc.toString()
  if (!done) return 'left to the browser'
  return at.empty ? `${doc.slice(0, at.head)}|${doc.slice(at.head)}` : doc
}

it('deletes a character, an emoji, a line break or what is selected', () => {
  const [backward, forward] = [deleteCharacter('backward'), deleteCharacter('forward')]
  expect(after(backward, 'ab|c')).toBe('a|c')
  expect(after(forward, 'ab|c')).toBe('ab|')
  expect(after(backward, 'a👩‍🚀|b')).toBe('a|b')
  expect(after(forward, 'a|👩‍🚀b')).toBe('a|b')
  expect(after(backward, 'a\n|b')).toBe('a|b')
  expect(after(forward, 'a|\nb')).toBe('a|b')
  expect(after(backward, 'a[bc]d')).toBe('a|d')
  expect(after(backward, '|a')).toBe('left to the browser')
  expect(after(forward, 'a|')).toBe('left to the browser')
})

it('moves lines in and out', () => {
  expect(after(indentLines('more'), '- a\n|- b')).toBe('- a\n|  - b')
  expect(after(indentLines('less'), '- a\n  - b|')).toBe('- a\n- b|')
  expect(after(indentLines('less'), '|a')).toBe('|a')
  expect(after(indentLines('more'), '[a\nb]')).toBe('  a\n  b')
})

it('goes on with a list by Enter', () => {
  expect(after(continueList, '- a|')).toBe('- a\n- |')
  expect(after(continueList, '1. a|')).toBe('1. a\n2. |')
  expect(after(continueList, '> a|')).toBe('> a\n> |')
  expect(after(continueList, 'a|')).toBe('left to the browser')
})

it('ends a list by Enter on an empty item, with the blank line that ends it in Markdown', () => {
  expect(after(continueList, '- a\n- |')).toBe('- a\n\n|')
  expect(after(continueList, '1. a\n2. |\n\nb')).toBe('1. a\n\n|\n\nb')
  expect(after(continueList, '> a\n> |')).toBe('> a\n\n|')
  expect(after(continueList, '- a\n  - |')).toBe('- a\n\n|')
  expect(after(continueList, '1. a\n2. |\n3. b')).toBe('1. a\n\n|\n\n3. b')
  expect(after(continueList, '- a\n\n- |')).toBe('- a\n\n|')
  expect(after(continueList, '- |')).toBe('|')
})

it('moves items of a list by Tab, which leaves the text elsewhere', () => {
  const [more, less] = [indentItem('more'), indentItem('less')]
  expect(after(more, '- a\n- b|')).toBe('- a\n  - b|')
  expect(after(more, '1. a\n2. |b')).toBe('1. a\n   2. |b')
  expect(after(less, '- a\n  - b|')).toBe('- a\n- b|')
  expect(after(less, '- a|')).toBe('left to the browser')
  expect(after(more, 'a|')).toBe('left to the browser')
  expect(after(more, '[- a\nb]')).toBe('left to the browser')
})

it('puts the caret where the address of a new link goes', () => {
  expect(after(insertLink, 'the [lamp] burned')).toBe('the [lamp](|) burned')
  expect(after(insertLink, 'the |')).toBe('the [|]()')
})
