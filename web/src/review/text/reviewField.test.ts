import { ChangeSet, EditorState, Transaction } from '@codemirror/state'
import { expect, it } from 'vitest'
import { setHunks } from '../../document/effects.ts'
import type { Hunk } from '../../wire/generated.ts'
import { shownAt } from '../state/hunk.ts'
import {
  activeHunk,
  hunksOf,
  resolvedChange,
  review,
  reviewField,
  setActive,
  setOutcome,
  setTextView,
  streamingOf,
} from './reviewField.ts'
import { describe as say, following, fromCaret, neighbour } from '../state/changes.ts'

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

const without = (state: EditorState, id: string) =>
  state.update({ effects: setHunks.of(hunksOf(state).filter((h) => h.id !== id)) }).state

it('keeps the active change where it is when it is decided, until somebody goes on', () => {
  const state = without(start().update({ effects: setActive.of('b') }).state, 'b')
  expect(activeHunk(state)).toBeUndefined()
  expect(state.field(reviewField)).toMatchObject({ active: 'b', resolved: { number: 2 } })
  const more = without(without(state, 'a'), 'c')
  expect(more.field(reviewField).active).toBe('b')
  const marked = more.update({ effects: setOutcome.of('Accepted by Bo') }).state
  expect(resolvedChange(marked)?.outcome).toBe('Accepted by Bo')
  const gone = resolvedChange(state)!.hunk
  expect(following(hunksOf(state), gone)?.id).toBe('c')
  expect(following(hunksOf(without(state, 'c')), gone)?.id).toBe('a')
  expect(neighbour(hunksOf(state), 'b', 1, gone)?.id).toBe('c')
  expect(neighbour(hunksOf(state), 'b', -1, gone)?.id).toBe('a')
})

it('lets go of a decided change when somebody goes on, or it is open again', () => {
  const state = without(start().update({ effects: setActive.of('b') }).state, 'b')
  expect(resolvedChange(state.update({ effects: setActive.of('c') }).state)).toBeNull()
  const again = state.update({
    effects: setHunks.of([...hunksOf(state), hunk('b', 4, 7, 'two', '2')]),
  }).state
  expect(resolvedChange(again)).toBeNull()
  expect(activeHunk(again)?.id).toBe('b')
})

it('stays at the words that took the place of the decided change', () => {
  const chosen = start().update({ effects: setActive.of('b') }).state
  const changed = chosen.update({
    changes: { from: 4, to: 7, insert: 'twenty' },
    annotations: Transaction.remote.of(true),
  }).state
  const accepted = without(changed, 'b')
  const { from, to } = resolvedChange(accepted)!.hunk.parts[0]!
  expect(accepted.sliceDoc(from, to)).toBe('twenty')
})

it('does not hold on to a change whose words one deletes oneself', () => {
  const chosen = start().update({ effects: setActive.of('b') }).state
  const typed = chosen.update({ changes: { from: 4, to: 7 } }).state
  expect(resolvedChange(typed)).toBeNull()
  expect(activeHunk(typed)?.id).toBe('c')
})

it('shows the text as it would read, and lets nobody type into what is not there', () => {
  const state = EditorState.create({ doc: 'one two three', extensions: review() }).update({
    effects: [setHunks.of([hunk('b', 4, 7, 'two', '2')]), setTextView.of('proposed')],
  }).state
  const typed = state.update({ changes: { from: 0, insert: 'x' }, userEvent: 'input.type' }).state
  expect(typed.doc.toString()).toBe('one two three')
  const told = state.update({
    changes: { from: 0, insert: 'x' },
    annotations: Transaction.remote.of(true),
  }).state
  expect(told.doc.toString()).toBe('xone two three')
  expect(
    state.update({ effects: setTextView.of('original') }).state.field(reviewField).deco.size,
  ).toBe(0)
})

it('draws nothing anew for words that are typed elsewhere', () => {
  const state = EditorState.create({ doc: 'one\n\ntwo', extensions: reviewField }).update({
    effects: setHunks.of([hunk('b', 5, 8, 'two', '2')]),
  }).state
  const places = (of: EditorState) => {
    const found: number[] = []
    of.field(reviewField).deco.between(0, of.doc.length, (from) => void found.push(from))
    return found
  }
  const typed = state.update({ changes: { from: 0, insert: 'zero\n' } }).state
  expect(places(typed)).toEqual(places(state).map((at) => at + 5))
})

it('begins at the caret', () => {
  const hunks = hunksOf(start())
  const from = (at: number, step: 1 | -1) => fromCaret(hunks, at, step)?.id
  expect([0, 3, 4, 5, 8, 13].map((at) => from(at, 1))).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  expect([0, 4, 8].map((at) => from(at, -1))).toEqual(['c', 'a', 'b'])
  expect(fromCaret(hunks.slice(0, 1), 9, 1)?.id).toBe('a')
  expect(fromCaret([], 0, 1)).toBeUndefined()
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

it('is read out as words that move, with what becomes of them', () => {
  const moved = (before: string, after: string): Hunk => ({
    id: 'm',
    request_id: 'r',
    kind: 'moved',
    status: 'pending',
    parts: [
      { from: 0, to: before.length, base: before, insert: '' },
      { from: 90, to: 90, base: '', insert: after },
    ],
  })
  expect(say(moved('It rained. ', ' It rained.'), 1, 2)).toBe('Change 1 of 2. Move: It rained.')
  expect(say(moved('It rained. ', ' It poured.'), 1, 2)).toBe(
    'Change 1 of 2. Move: It rained. As: It poured.',
  )
  // It is shown where the words are read, not where they go.
  expect([
    shownAt(moved('It rained. ', ' It rained.')),
    shownAt(hunk('a', 4, 7, 'one', '1')),
  ]).toEqual([90, 4])
})

it('goes on with the first part of a change that was split', () => {
  const parts = [
    { from: 0, to: 3, base: 'one', insert: '1' },
    { from: 8, to: 13, base: 'three', insert: '3' },
  ]
  const whole: Hunk = { id: 'w', request_id: 'r', status: 'pending', parts }
  const put = (state: EditorState, hunks: Hunk[]) =>
    state.update({ effects: setHunks.of(hunks) }).state
  const shown = put(EditorState.create({ doc: 'one two three', extensions: reviewField }), [whole])
  const single = parts.map((part, at) => ({ ...whole, id: `w.${at + 1}`, parts: [part] }))
  expect(put(shown, single).field(reviewField)).toMatchObject({ active: 'w.1', resolved: null })
  // Those of another request are other changes.
  const others = single.map((part) => ({ ...part, request_id: 'other' }))
  expect(put(shown, others).field(reviewField)).toMatchObject({ active: 'w', resolved: {} })
})
