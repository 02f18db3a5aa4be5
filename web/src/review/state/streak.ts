/** Accepts that follow each other fast, and what is remarked on them. Pure. */
import { listed } from '../../ui/timeFormat.ts'
import type { Hunk } from '../../wire/generated.ts'
import { isMarked, kindsOf } from './marks.ts'
import { severalOf } from './markWords.ts'
import type { SnippetPiece } from './snippet.ts'

/** An accept by a key or a button. */
export interface Accept {
  hunk: Hunk
  /** Time in milliseconds. */
  at: number
  /** The change where it stood. */
  pieces: readonly SnippetPiece[]
}

/** So many accepts, each within this time of the one before, are a streak. */
const STREAK = 10
const PACE_MS = 1_000

/** The streak with one accept more; it begins anew after a pause, and once it is complete. */
export function withAccept(streak: readonly Accept[], accept: Accept): readonly Accept[] {
  const last = streak.at(-1)
  const goesOn = last && streak.length < STREAK && accept.at - last.at < PACE_MS
  return goesOn ? [...streak, accept] : [accept]
}

/** The changes of meaning in a complete streak; none before it is complete. */
export const hurriedIn = (streak: readonly Accept[]): readonly Accept[] =>
  streak.length < STREAK ? [] : streak.filter(({ hunk }) => isMarked(hunk))

/** Kinds that a remark names at most. */
const MOST_NAMED = 3

export function remarkWords(hurried: readonly Accept[]): string {
  const kinds = kindsOf(hurried.flatMap(({ hunk: { marks = [] } }) => marks))
  const what = listed(kinds.slice(0, MOST_NAMED).map(severalOf), 'or')
  const change = hurried.length === 1 ? 'changes' : 'change'
  return `You accepted ten changes in ten seconds; ${hurried.length} of them ${change} ${what}.`
}
