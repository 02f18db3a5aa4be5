/** The changes in a text as a person goes through them. Pure. */
import type { Hunk } from '../../wire/generated.ts'
import { inOrder, editRange, isByPerson, isMoved } from './hunk.ts'
import { firstOf, spokenMark } from './marks.ts'

export interface ChangesState {
  /** The changes that can be decided, in reading order. */
  hunks: readonly Hunk[]
  /** The changes that the model is still writing. */
  streaming: readonly Hunk[]
  /** The change that keys and the review bar act on. */
  active: string | null
  /**
   * The active change, when it is no longer open: it stays the active one until the person goes on.
   */
  resolved: ResolvedChange | null
  /** The view of the text. */
  shown: TextView
  /** The change in whose place a person writes words of their own. */
  editing: string | null
  /** Words of one's own that are kept for changes, by the change. */
  edits: Readonly<Record<string, string>>
}

/** With what goes and what comes marked; as it reads with all of it accepted; as it is. */
export type TextView = 'markup' | 'proposed' | 'original'

/** A change that was decided, or lost its words, while it was the active one. */
export interface ResolvedChange {
  hunk: Hunk
  /** Its number when it was open. */
  number: number
  /** "Accepted by Bo"; `null`: not known yet. */
  outcome: string | null
}

/** Returns whether these are the same changes with the same status, wherever they are. */
export const isSameList = (a: readonly Hunk[], b: readonly Hunk[]): boolean =>
  a.length === b.length &&
  a.every((hunk, index) => hunk.id === b[index]!.id && hunk.status === b[index]!.status)

/** The change after one that is gone, in the order of a list; the last one where there is none. */
export function following(hunks: readonly Hunk[], gone: Hunk, compare = inOrder): Hunk | undefined {
  return hunks.find((hunk) => compare(hunk, gone) > 0) ?? hunks.at(-1)
}

/**
 * The change `step` places on, around the ends; from where `left` was, if the active one is not
 * among them.
 */
export function neighbour(
  hunks: readonly Hunk[],
  active: string | null,
  step: 1 | -1,
  left?: Hunk,
  compare = inOrder,
): Hunk | undefined {
  if (hunks.length === 0) return undefined
  const at = hunks.findIndex((hunk) => hunk.id === active)
  if (at >= 0) return hunks[(at + step + hunks.length) % hunks.length]
  const after = left ? hunks.findIndex((hunk) => compare(hunk, left) > 0) : 0
  const next = after < 0 ? hunks.length : after
  return (step === 1 ? hunks[next] : hunks[next - 1]) ?? (step === 1 ? hunks[0] : hunks.at(-1))
}

/**
 * The first change that ends at a position or behind it, or the last before it; around the ends.
 */
export function fromCaret(hunks: readonly Hunk[], at: number, step: 1 | -1): Hunk | undefined {
  const isAfter = (hunk: Hunk) => editRange(hunk).to >= at
  return step === 1
    ? (hunks.find(isAfter) ?? hunks[0])
    : (hunks.findLast((hunk) => !isAfter(hunk)) ?? hunks.at(-1))
}

/** "Change 2 of 7. Remove: … Insert: …" */
export const describe = (hunk: Hunk, number: number, total: number): string =>
  `Change ${number} of ${total}. ${describeWords(hunk)}`

/** Marks of a change that are read out. */
const MOST_MARKS = 4

/** "Remove: … Insert: … Changes a number: …" */
export function describeWords(hunk: Hunk): string {
  const words = (side: 'base' | 'insert') =>
    hunk.parts
      .map((part) => part[side])
      .filter(Boolean)
      .join(' … ')
  const [removed, inserted] = [words('base'), words('insert')]
  const moved = [`Move: ${sentence(removed)}`]
  if (removed.trim() !== inserted.trim()) moved.push(`As: ${sentence(inserted)}`)
  const what = isMoved(hunk)
    ? moved
    : [removed && `Remove: ${removed}.`, inserted && `Insert: ${inserted}.`]
  const changed = hunk.status === 'conflict' && changedSince(hunk)
  return [...what, changed, ...firstOf(hunk, spokenMark, MOST_MARKS)].filter(Boolean).join(' ')
}

export const changedSince = (hunk: Hunk): string =>
  `The text here changed after ${isByPerson(hunk) ? 'this was suggested' : 'the AI read it'}.`

/** Words with a stop at their end. */
function sentence(words: string): string {
  const trimmed = words.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
