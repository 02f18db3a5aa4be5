/**
 * Frozen passages: ranges of the text no tool may touch. Pure; the server moves them by the same
 * rule (`crates/rooms/src/settings.rs`).
 */
import type { ChangeDesc } from '@codemirror/state'
import type { Range } from '../wire/generated.ts'

/**
 * Over an update: what is typed at an edge stays outside, and a passage whose words are all gone is
 * gone.
 */
export function follow(ranges: readonly Range[], changes: ChangeDesc): Range[] {
  return ranges.flatMap(({ from, to }) => {
    const moved = { from: changes.mapPos(from, 1), to: changes.mapPos(to, -1) }
    return moved.from < moved.to ? [moved] : []
  })
}

/** With one more; those it touches become one with it. */
export function freeze(ranges: readonly Range[], added: Range): Range[] {
  const apart = ranges.filter(({ from, to }) => to < added.from || added.to < from)
  const joined = ranges
    .filter((range) => !apart.includes(range))
    .reduce(
      (all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }),
      added,
    )
  return [...apart, joined].toSorted((a, b) => a.from - b.from)
}

/** Without this stretch; what is left of a passage on either side stays frozen. */
export function thaw(ranges: readonly Range[], gone: Range): Range[] {
  return ranges.flatMap(({ from, to }) => {
    if (to <= gone.from || gone.to <= from) return [{ from, to }]
    return [
      { from, to: gone.from },
      { from: gone.to, to },
    ].filter((rest) => rest.from < rest.to)
  })
}

/** Returns whether all of a stretch is frozen. */
export const isFrozen = (ranges: readonly Range[], { from, to }: Range): boolean =>
  ranges.some((range) => range.from <= from && to <= range.to)

/** Returns whether some of a stretch is frozen. */
export const touchesFrozen = (ranges: readonly Range[], { from, to }: Range): boolean =>
  ranges.some((range) => range.from < to && from < range.to)

/** The selection without the blanks around its words; `null` if there are no words. */
export function wordsOf(text: string, from: number): Range | null {
  const words = text.trim()
  const start = from + text.indexOf(words)
  return words === '' ? null : { from: start, to: start + words.length }
}

/** The ranges that make sense in a text of this length. */
export const within = (ranges: readonly Range[], length: number): Range[] =>
  ranges.filter(
    ({ from, to }) =>
      Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to && to <= length,
  )
