import { history, isolateHistory, redo, undo, undoDepth } from '@codemirror/commands'
import { EditorState, type StateCommand, Transaction } from '@codemirror/state'
import { expect, it } from 'vitest'
import { addDecided, type DecidedWords, decidedWords, sparing } from './undo.ts'

const start = (doc: string): EditorState =>
  EditorState.create({ doc, extensions: [history(), decidedWords] })

const types = (state: EditorState, from: number, to: number, insert: string): EditorState =>
  state.update({ changes: { from, to, insert }, annotations: isolateHistory.of('full') }).state

/** Others decide words, where they stand then. */
const decide = (
  state: EditorState,
  { from, to, base }: Omit<DecidedWords, 'depth' | 'words'>,
  changes: { from: number; to: number; insert: string }[] = [],
): EditorState =>
  state.update({
    changes,
    effects: addDecided.of([{ from, to, base, depth: undoDepth(state) }]),
    annotations: [Transaction.addToHistory.of(false), isolateHistory.of('full')],
  }).state

function run(state: EditorState, command: StateCommand): EditorState {
  let now = state
  sparing(command)({ state, dispatch: (steps) => (now = steps.at(-1)!.state) })
  return now
}
const text = (state: EditorState): string => state.doc.toString()

it('takes typing back, and what was accepted before stays', () => {
  const typed = types(types(start('The lamp.'), 4, 8, 'lantern'), 11, 11, ' there')
  const accepted = decide(typed, { from: 4, to: 11, base: 'lamp' })
  const once = run(accepted, undo)
  expect(text(once)).toBe('The lantern.')
  const twice = run(once, undo)
  expect(text(twice)).toBe('The lantern.')
  expect(text(run(run(twice, redo), redo))).toBe('The lantern there.')
})

it('does not bring words twice whose deletion was rejected', () => {
  const typed = types(start('The old lamp.'), 4, 8, '')
  const back = [{ from: 4, to: 4, insert: 'old ' }]
  expect(text(run(decide(typed, { from: 4, to: 8, base: 'old ' }, back), undo))).toBe(
    'The old lamp.',
  )
})

it('leaves words out whose deletion was accepted', () => {
  const typed = types(start('The old lamp.'), 4, 8, '')
  expect(text(run(decide(typed, { from: 4, to: 4, base: 'old ' }), undo))).toBe('The lamp.')
})

it('takes back what was typed after a decision, at its edge too', () => {
  const accepted = decide(types(start('The .'), 4, 4, 'lamp'), { from: 4, to: 8, base: '' })
  const typed = types(accepted, 8, 8, 's')
  expect(text(typed)).toBe('The lamps.')
  expect(text(run(typed, undo))).toBe('The lamp.')
  expect(text(run(types(accepted, 4, 8, ''), undo))).toBe('The lamp.')
})

it('takes back the half of a step that was not decided', () => {
  const typed = types(start(''), 0, 0, 'One. Two.')
  expect(text(run(decide(typed, { from: 0, to: 5, base: '' }), undo))).toBe('One. ')
})

it('knows decided words that were cut at the other blank', () => {
  const accepted = decide(types(start('Go home in.'), 7, 7, ' at last'), {
    from: 8,
    to: 16,
    base: '',
  })
  expect(text(run(accepted, undo))).toBe('Go home at last in.')
  const gone = decide(types(start('Go home at last in.'), 7, 15, ''), {
    from: 8,
    to: 8,
    base: 'at last ',
  })
  expect(text(run(gone, undo))).toBe('Go home in.')
})
