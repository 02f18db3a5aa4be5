/**
 * The pending changes as the editor holds them: struck and inserted words drawn over the text,
 * never in it.
 */
import {
  type ChangeDesc,
  EditorState,
  StateEffect,
  StateField,
  Transaction,
  type Extension,
} from '@codemirror/state'
import { type DecorationSet, Decoration, EditorView } from '@codemirror/view'
import { setHunks } from '../../document/effects.ts'
import { toast } from '../../ui/toasts.ts'
import type { Hunk } from '../../wire/generated.ts'
import { buildDecorations } from './decorations.ts'
import {
  hunkFrom,
  hunkTo,
  inOrder,
  isOpen,
  isPartOf,
  rebaseHunk,
  type Span,
  spans,
} from '../state/hunk.ts'
import {
  type ChangesState,
  type ResolvedChange,
  type TextView,
  following,
  isSameList,
} from '../state/changes.ts'

export interface ReviewState extends ChangesState {
  deco: DecorationSet
}

/** Makes a change the active one; `null`: lets go of one that is no longer open. */
export const setActive = StateEffect.define<string | null>()
export const setTextView = StateEffect.define<TextView>()
export const setEditing = StateEffect.define<string | null>()
export const setEdits = StateEffect.define<Readonly<Record<string, string>>>()
/** Sets the outcome of the resolved change. */
export const setOutcome = StateEffect.define<string>()

const EMPTY: ReviewState = {
  hunks: [],
  streaming: [],
  active: null,
  resolved: null,
  shown: 'markup',
  editing: null,
  edits: {},
  deco: Decoration.none,
}

export const reviewField = StateField.define<ReviewState>({
  create: () => EMPTY,
  update(value, tr) {
    let { hunks, streaming, active, resolved, shown, editing, edits } = value
    const moved = (all: readonly Hunk[]) =>
      all.length === 0
        ? all
        : all
            .map((hunk) => rebaseHunk(hunk, tr.changes, tr.newDoc))
            .filter((hunk) => isOpen(hunk.status))
    if (tr.docChanged) {
      ;[hunks, streaming] = [moved(hunks), moved(streaming)]
      if (resolved) resolved = { ...resolved, hunk: outward(resolved.hunk, tr.changes) }
    }
    for (const effect of tr.effects) {
      if (effect.is(setHunks)) {
        const open = [...effect.value].filter((hunk) => isOpen(hunk.status)).sort(inOrder)
        hunks = open.filter((hunk) => hunk.status !== 'streaming')
        streaming = open.filter((hunk) => hunk.status === 'streaming')
      } else if (effect.is(setActive)) [active, resolved] = [effect.value, null]
      else if (effect.is(setOutcome) && resolved) resolved = { ...resolved, outcome: effect.value }
      else if (effect.is(setTextView)) shown = effect.value
      else if (effect.is(setEditing)) editing = effect.value
      else if (effect.is(setEdits)) edits = effect.value
    }
    const now = { hunks, streaming, active, resolved, shown, editing, edits }
    if (isSame(now, value)) return value
    const next = { ...now, ...activeAfter(value, now, tr) }
    // Most keys are pressed somewhere else than in a change.
    const deco =
      isOnlyMoved(value, next, tr) || isDrawnAfter(tr)
        ? value.deco.map(tr.changes)
        : buildDecorations(tr.newDoc, next)
    return { ...next, deco }
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.deco),
})

/** Remote updates are followed by {@link setHunks} before anything is shown of them. */
const isDrawnAfter = (tr: Transaction): boolean =>
  tr.annotation(Transaction.remote) === true && !tr.effects.some((effect) => effect.is(setHunks))

const isSame = (a: ChangesState, b: ChangesState): boolean =>
  Object.entries(a).every(([name, value]) => b[name as keyof ChangesState] === value)

/** The same changes in the same states, none of them touched: they went along with the text. */
function isOnlyMoved(before: ReviewState, now: ChangesState, tr: Transaction): boolean {
  const { shown, editing, active, resolved } = before
  if (!tr.docChanged || tr.effects.some((effect) => effect.is(setHunks)) || resolved) return false
  if (now.shown !== shown || now.editing !== editing || now.active !== active) return false
  if (now.edits !== before.edits) return false
  if (!isSameList(before.hunks, now.hunks) || !isSameList(before.streaming, now.streaming))
    return false
  const { doc } = tr.startState
  return [...before.hunks, ...before.streaming].every((hunk) => {
    const end = Math.min(hunkTo(hunk), doc.length)
    return !tr.changes.touchesRange(doc.lineAt(hunkFrom(hunk)).from, doc.lineAt(end).to)
  })
}

/**
 * Keeps the change that the person looks at: another change becomes the active one only by an act
 * of their own.
 */
function activeAfter(
  before: ReviewState,
  { hunks, active, resolved }: ChangesState,
  tr: Transaction,
): Pick<ReviewState, 'active' | 'resolved'> {
  if (hunks.some((hunk) => hunk.id === active)) return { active, resolved: null }
  const at = before.hunks.findIndex((hunk) => hunk.id === active)
  const gone = at < 0 ? undefined : before.hunks[at]
  // Who types in the text is not deciding anything.
  const typed = tr.docChanged && tr.annotation(Transaction.remote) !== true
  if (typed || (!gone && !resolved)) {
    const last = gone ?? resolved?.hunk
    return { active: (last ? following(hunks, last) : hunks[0])?.id ?? null, resolved: null }
  }
  if (resolved || !gone) return { active, resolved }
  // A change that was split is not decided: its first part is the active one; and so is the whole,
  // once its parts are joined.
  const part = tr.docChanged
    ? undefined
    : hunks.find((hunk) => isPartOf(hunk, gone) || isPartOf(gone, hunk))
  if (part) return { active: part.id, resolved: null }
  const hunk = tr.docChanged ? outward(gone, tr.changes) : gone
  return { active, resolved: { hunk, number: at + 1, outcome: null } }
}

/** Returns a change with the range that it had, and the text there now. */
function outward(hunk: Hunk, changes: ChangeDesc): Hunk {
  const parts = hunk.parts.map((part) => ({
    ...part,
    from: changes.mapPos(part.from, -1),
    to: changes.mapPos(part.to, 1),
  }))
  return { ...hunk, parts }
}

export const reviewIn = (state: EditorState | null): ReviewState =>
  state?.field(reviewField, false) ?? EMPTY

export function hunksOf(state: EditorState): readonly Hunk[] {
  return reviewIn(state).hunks
}

/** Returns the changes that the model is still writing, where they stand. */
export function streamingOf(state: EditorState): readonly Hunk[] {
  return reviewIn(state).streaming
}

export function activeHunk(state: EditorState): Hunk | undefined {
  const { hunks, active } = reviewIn(state)
  return hunks.find((hunk) => hunk.id === active)
}

/**
 * Returns the same change where it is at this moment; the panel's copy may lag behind the typing.
 */
export function asItIs(state: EditorState, hunk: Hunk): Hunk {
  return hunksOf(state).find(({ id }) => id === hunk.id) ?? hunk
}

export function resolvedChange(state: EditorState): ResolvedChange | null {
  return reviewIn(state).resolved
}

/** Returns the spans that pending changes replace or split between two positions. */
export function reviewedSpans(state: EditorState, from: number, to: number): readonly Span[] {
  return [...hunksOf(state), ...streamingOf(state)]
    .filter((hunk) => hunkFrom(hunk) <= to && from <= hunkTo(hunk))
    .flatMap(spans)
}

/**
 * The proposed view is not the text: it can be read, and typed into only where the removed words
 * are in view.
 */
const onlyRead = EditorState.changeFilter.of(
  (tr) =>
    tr.annotation(Transaction.remote) === true ||
    tr.startState.field(reviewField).shown !== 'proposed' ||
    tr.startState.field(reviewField).hunks.length === 0,
)

/** Typing where it is not possible is answered, not swallowed. */
const saysOnlyRead = EditorView.updateListener.of(({ view, startState, transactions }) => {
  const tries = transactions.some(
    (tr) => !tr.docChanged && (tr.isUserEvent('input') || tr.isUserEvent('delete')),
  )
  if (!tries || startState.field(reviewField).shown !== 'proposed') return
  toast('This view is for reading and deciding. Switch to Markup to edit.', {
    about: READ_ONLY_VIEW_TOAST,
    action: {
      label: 'Markup',
      run: () => {
        view.dispatch({ effects: setTextView.of('markup') })
        view.focus()
      },
    },
  })
})

/** Subject of the toast that says that a view is for reading. */
const READ_ONLY_VIEW_TOAST = 'only read'

/** `written`: what is there already when the text is loaded anew. */
export function review(written: Partial<Pick<ReviewState, 'editing' | 'edits'>> = {}): Extension {
  return [reviewField.init(() => ({ ...EMPTY, ...written })), onlyRead, saysOnlyRead]
}
