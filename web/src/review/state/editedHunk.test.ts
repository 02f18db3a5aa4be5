import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { asEdited } from './editedHunk.ts'

const doc = Text.of(['The lamp burned all night.'])
const hunk: Hunk = {
  id: 'h',
  request_id: 'r',
  status: 'pending',
  parts: [{ from: 4, to: 15, base: 'lamp burned', insert: 'light shone' }],
}

it('shows the words that go in, marked against the text as it is', () => {
  expect(asEdited(hunk, 'lamp glowed', doc).parts).toEqual([
    { from: 9, to: 15, base: 'burned', insert: 'glowed' },
  ])
  expect(asEdited(hunk, 'lamp burned low', doc).parts).toEqual([
    { from: 15, to: 15, base: '', insert: ' low' },
  ])
  expect(asEdited(hunk, '', doc).parts).toEqual([
    { from: 4, to: 15, base: 'lamp burned', insert: '' },
  ])
})

it('keeps a change without an edit, and one in conflict, as it is', () => {
  expect(asEdited(hunk, undefined, doc)).toBe(hunk)
  const conflict: Hunk = { ...hunk, status: 'conflict' }
  expect(asEdited(conflict, 'x', doc)).toBe(conflict)
})

it('still shows a place where the edit is the text as it stands', () => {
  expect(asEdited(hunk, 'lamp burned', doc).parts).toEqual([
    { from: 4, to: 4, base: '', insert: '' },
  ])
})

it('leaves alone where moved words go from', () => {
  const moved: Hunk = {
    ...hunk,
    kind: 'moved',
    parts: [
      { from: 0, to: 4, base: 'The ', insert: '' },
      { from: 26, to: 26, base: '', insert: ' The' },
    ],
  }
  expect(asEdited(moved, ' Yes', doc).parts).toEqual([
    { from: 0, to: 4, base: 'The ', insert: '' },
    { from: 26, to: 26, base: '', insert: ' Yes' },
  ])
})
