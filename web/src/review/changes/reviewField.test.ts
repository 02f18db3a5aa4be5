import { ChangeSet, EditorState } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import {
  activeHunk,
  describe as say,
  hunksOf,
  neighbour,
  reviewField,
  setActive,
  setHunks,
  streamingOf,
} from './reviewField.ts'

const hunk = (id: string, from: number, to: number, base: string, insert: string): Hunk => ({
  id,
  request_id: 'r',
  status: 'pending',
  parts: [{ from, to, base, insert }],
})
const start = () =>
  EditorState.create({ doc: 'one two three', extensions: reviewField }).update({
    effects: setHunks.of([
      hunk('c', 8, 13, 'three', '3'),
      hunk('a', 0, 3, 'one', '1'),
      hunk('b', 4, 7, 'two', '2'),
    ]),
  }).state

it('keeps changes in reading order and begins with the first', () => {
  const state = start()
  expect(hunksOf(state).map((h) => h.id)).toEqual(['a', 'b', 'c'])
  expect(activeHunk(state)?.id).toBe('a')
})

it('goes on to the change that follows the decided one', () => {
  const chosen = start().update({ effects: setActive.of('b') }).state
  const left = hunksOf(chosen).filter((h) => h.id !== 'b')
  expect(activeHunk(chosen.update({ effects: setHunks.of(left) }).state)?.id).toBe('c')
})

it('goes back to the last one when the end is reached', () => {
  const chosen = start().update({ effects: setActive.of('c') }).state
  const left = hunksOf(chosen).filter((h) => h.id !== 'c')
  expect(activeHunk(chosen.update({ effects: setHunks.of(left) }).state)?.id).toBe('b')
})

it('walks around the ends', () => {
  const hunks = hunksOf(start())
  expect(neighbour(hunks, 'c', 1)?.id).toBe('a')
  expect(neighbour(hunks, 'a', -1)?.id).toBe('c')
  expect(neighbour(hunks, null, -1)?.id).toBe('c')
  expect(neighbour([], null, 1)).toBeUndefined()
})

it('follows the writer’s own typing', () => {
  const state = start()
  const typed = state.update({
    changes: ChangeSet.of({ from: 0, insert: 'zero ' }, state.doc.length),
  }).state
  expect(hunksOf(typed).map((h) => h.parts[0]?.from)).toEqual([5, 9, 13])
})

it('drops a change whose words are gone, and its siblings live', () => {
  const typed = start().update({ changes: { from: 4, to: 7 } }).state
  expect(hunksOf(typed).map((h) => h.id)).toEqual(['a', 'c'])
})

it('draws what is still being written, but does not offer it for a decision', () => {
  const written: Hunk = { ...hunk('w', 4, 7, 'two', 'tw'), status: 'streaming' }
  const state = EditorState.create({ doc: 'one two three', extensions: reviewField }).update({
    effects: setHunks.of([written, hunk('a', 8, 13, 'three', '3')]),
  }).state
  expect(hunksOf(state).map((h) => h.id)).toEqual(['a'])
  expect(activeHunk(state)?.id).toBe('a')
  const typed = state.update({ changes: { from: 0, insert: 'zero ' } }).state
  expect(streamingOf(typed).map((h) => h.parts[0]?.from)).toEqual([9])
  expect(typed.field(reviewField).deco.size).toBeGreaterThan(3)
})

it('is read out with number and scope', () => {
  expect(say(hunk('a', 0, 3, 'one', '1'), 2, 7)).toBe('Change 2 of 7. Remove: one. Insert: 1.')
})
