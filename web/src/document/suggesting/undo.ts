/**
 * Undo and redo while one suggests: what others have decided stays as it is, whatever was typed
 * before.
 */
import { redo, undo, undoDepth } from '@codemirror/commands'
import {
  type ChangeSpec,
  type EditorState,
  type StateCommand,
  StateEffect,
  StateField,
  type Text,
  Transaction,
} from '@codemirror/state'
import { type Command, EditorView, type KeyBinding } from '@codemirror/view'

/** Words that were decided, where they are shown. */
export interface DecidedWords {
  from: number
  to: number
  /** The words that stand there, and those that stood there before. */
  words: string
  base: string
  /** Number of the person's steps when they were decided. */
  depth: number
}

/** Words that others have just decided. */
export const addDecided = StateEffect.define<readonly Omit<DecidedWords, 'words'>[]>()

export const decidedWords = StateField.define<readonly DecidedWords[]>({
  create: () => [],
  update(before, tr) {
    const moved = tr.docChanged ? before.map((one) => follow(one, tr)) : before
    const added = tr.effects.flatMap((effect) => (effect.is(addDecided) ? effect.value : []))
    return added.length === 0 ? moved : [...moved, ...added.map((one) => widened(one, tr.newDoc))]
  },
})

/**
 * With the units beside it that may have been meant as well: "at " put in before a blank and " at"
 * put in behind one are the same.
 */
function widened(decided: Omit<DecidedWords, 'words'>, doc: Text): DecidedWords {
  const { from, to, base } = decided
  const words = doc.sliceString(from, to)
  const what = words || base
  const before = doc.sliceString(Math.max(0, from - what.length), from)
  const after = doc.sliceString(to, to + what.length)
  let [left, right] = [0, 0]
  while (left < before.length && before.at(-1 - left) === what.at(-1 - left)) left += 1
  while (right < after.length && after[right] === what[right]) right += 1
  return { ...decided, words, from: from - left, to: to + right }
}

/** Of the change that puts decided words back after an undo. */
const PUTS_BACK = 'undo.decided'

function follow(words: DecidedWords, tr: Transaction): DecidedWords {
  const side = tr.isUserEvent(PUTS_BACK) ? -1 : 1
  const from = tr.changes.mapPos(words.from, side)
  const to = Math.max(from, tr.changes.mapPos(words.to, side === 1 ? -1 : 1))
  // Steps from before that were undone are gone once something is typed.
  const isTyped = tr.annotation(Transaction.addToHistory) !== false && !isHistory(tr)
  const depth = isTyped ? Math.min(words.depth, undoDepth(tr.startState)) : words.depth
  return { ...words, from, to, depth }
}

const isHistory = (tr: Transaction): boolean => tr.isUserEvent('undo') || tr.isUserEvent('redo')

interface Target {
  state: EditorState
  dispatch: (steps: readonly Transaction[]) => void
}

/** Undo or redo that spares decided words. */
export const sparing =
  (command: StateCommand) =>
  ({ state, dispatch }: Target): boolean =>
    command({
      state,
      dispatch: (tr) => {
        const step = Math.min(undoDepth(state), undoDepth(tr.state))
        const words = state.field(decidedWords).filter(({ depth }) => step < depth)
        const changes = corrections(tr, words)
        const annotations = [
          Transaction.addToHistory.of(false),
          Transaction.userEvent.of(PUTS_BACK),
        ]
        dispatch(changes.length === 0 ? [tr] : [tr, tr.state.update({ changes, annotations })])
      },
    })

/** The changes after an undo that leave decided words as they were. */
function corrections(
  { changes, startState: { doc } }: Pick<Transaction, 'changes' | 'startState'>,
  words: readonly DecidedWords[],
): ChangeSpec[] {
  const needed: ChangeSpec[] = []
  changes.iterChanges((fromA, toA, from, to, inserted) => {
    const touched = words.filter((one) => one.from <= toA && fromA <= one.to)
    const kept = touched.map((one) =>
      doc.sliceString(Math.max(one.from, fromA), Math.min(one.to, toA)),
    )
    const put = inserted.toString()
    const rest = touched.reduce((left, one) => without(without(left, one.base), one.words), put)
    const insert = kept.join('') + rest
    if (insert !== put) needed.push({ from, to, insert })
  }, true)
  return needed
}

/** A text without other words, or nothing of it if it is a part of them. */
function without(text: string, base: string): string {
  if (base === '' || text === '') return text
  // Twice, as it may begin elsewhere in them.
  return text.length <= base.length && (base + base).includes(text) ? '' : text.replace(base, '')
}

const inView =
  (command: StateCommand): Command =>
  (view) =>
    sparing(command)({ state: view.state, dispatch: (steps) => view.dispatch(steps) })

const [undoOwn, redoOwn] = [inView(undo), inView(redo)]

export const undoKeys: readonly KeyBinding[] = [
  { key: 'Mod-z', run: undoOwn, preventDefault: true },
  { key: 'Mod-y', mac: 'Mod-Shift-z', run: redoOwn, preventDefault: true },
  { linux: 'Ctrl-Shift-z', run: redoOwn, preventDefault: true },
]

/** Undo from the menu of a browser, or by shaking a phone. */
export const undoFromBrowser = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const run = { historyUndo: undoOwn, historyRedo: redoOwn }[event.inputType]
    if (run) event.preventDefault()
    return run?.(view) ?? false
  },
})
