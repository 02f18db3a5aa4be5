/** The pending changes as the editor holds them: struck and inserted words drawn over the text, never in it. */
import type { EditorState } from '@codemirror/state'
import { StateEffect, StateField, type Extension } from '@codemirror/state'
import { type DecorationSet, Decoration, EditorView } from '@codemirror/view'
import type { Hunk } from '../../wire/generated.ts'
import { buildDecorations } from './decorations.ts'
import { hunkFrom, hunkTo, inOrder, isOpen, rebaseHunk } from './hunk.ts'

export interface ReviewState {
  /** What can be decided, in reading order. */
  hunks: readonly Hunk[]
  /** What the model is still writing. */
  streaming: readonly Hunk[]
  /** The change that keys and the review bar act on. */
  active: string | null
  deco: DecorationSet
}

export const setHunks = StateEffect.define<readonly Hunk[]>()
export const setActive = StateEffect.define<string | null>()

export const reviewField = StateField.define<ReviewState>({
  create: () => ({ hunks: [], streaming: [], active: null, deco: Decoration.none }),
  update(value, tr) {
    let { hunks, streaming, active } = value
    const moved = (all: readonly Hunk[]) =>
      all.length === 0
        ? all
        : all
            .map((hunk) => rebaseHunk(hunk, tr.changes, tr.newDoc))
            .filter((hunk) => isOpen(hunk.status))
    if (tr.docChanged) [hunks, streaming] = [moved(hunks), moved(streaming)]
    for (const effect of tr.effects) {
      if (effect.is(setHunks)) {
        const open = [...effect.value].filter((hunk) => isOpen(hunk.status)).sort(inOrder)
        hunks = open.filter((hunk) => hunk.status !== 'streaming')
        streaming = open.filter((hunk) => hunk.status === 'streaming')
      } else if (effect.is(setActive)) active = effect.value
    }
    if (hunks === value.hunks && streaming === value.streaming && active === value.active)
      return value
    active = stillActive(value, hunks, active)
    return { hunks, streaming, active, deco: buildDecorations(tr.newDoc, hunks, streaming, active) }
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.deco),
})

/** When the active change is gone, the one that follows takes its place. */
function stillActive(
  before: ReviewState,
  hunks: readonly Hunk[],
  active: string | null,
): string | null {
  if (hunks.some((hunk) => hunk.id === active)) return active
  const at = before.hunks.findIndex((hunk) => hunk.id === active)
  if (at < 0) return hunks[0]?.id ?? null
  const following = before.hunks
    .slice(at + 1)
    .find((hunk) => hunks.some(({ id }) => id === hunk.id))
  return following?.id ?? hunks.at(-1)?.id ?? null
}

export function hunksOf(state: EditorState): readonly Hunk[] {
  return state.field(reviewField, false)?.hunks ?? []
}

/** What the model is still writing, where it stands. */
export function streamingOf(state: EditorState): readonly Hunk[] {
  return state.field(reviewField, false)?.streaming ?? []
}

export function activeHunk(state: EditorState): Hunk | undefined {
  const value = state.field(reviewField, false)
  return value?.hunks.find((hunk) => hunk.id === value.active)
}

/** The same change where it is at this moment; the panel's copy may lag behind while somebody types. */
export function asItIs(state: EditorState, hunk: Hunk): Hunk {
  return hunksOf(state).find(({ id }) => id === hunk.id) ?? hunk
}

/** The change `step` places on, around the ends. */
export function neighbour(
  hunks: readonly Hunk[],
  active: string | null,
  step: 1 | -1,
): Hunk | undefined {
  if (hunks.length === 0) return undefined
  const at = hunks.findIndex((hunk) => hunk.id === active)
  if (at < 0) return step === 1 ? hunks[0] : hunks.at(-1)
  return hunks[(at + step + hunks.length) % hunks.length]
}

/** Makes a change the active one, brings it into view and says it to screen readers. */
export function activate(view: EditorView, hunk: Hunk): void {
  const hunks = hunksOf(view.state)
  const number = hunks.findIndex(({ id }) => id === hunk.id) + 1
  view.dispatch({
    effects: [
      setActive.of(hunk.id),
      EditorView.scrollIntoView(Math.min(hunkFrom(hunk), view.state.doc.length), { y: 'center' }),
      EditorView.announce.of(describe(hunk, number, hunks.length)),
    ],
  })
}

/** "Change 2 of 7. Remove: … Insert: …" */
export function describe(hunk: Hunk, number: number, total: number): string {
  const removed = hunk.parts
    .map((part) => part.base)
    .filter(Boolean)
    .join(' … ')
  const inserted = hunk.parts
    .map((part) => part.insert)
    .filter(Boolean)
    .join(' … ')
  return [
    `Change ${number} of ${total}.`,
    removed && `Remove: ${removed}.`,
    inserted && `Insert: ${inserted}.`,
    hunk.status === 'conflict' && 'The text here changed after the AI read it.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** Whether some pending change replaces or splits what stands between two positions. */
export function inHunk(state: EditorState, from: number, to: number): boolean {
  return [...hunksOf(state), ...streamingOf(state)].some(
    (hunk) => hunkFrom(hunk) < to && from < hunkTo(hunk),
  )
}

export function review(): Extension {
  return [reviewField]
}
