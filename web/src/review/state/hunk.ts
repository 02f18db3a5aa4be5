/**
 * Moves pending changes along with the text while people type. Pure; the server does exactly the
 * same (`crates/approvals/src/hunks/rebase.rs`).
 */
import type { ChangeSet, Text } from '@codemirror/state'
import type { Hunk, HunkStatus, Part } from '../../wire/generated.ts'

export interface Span {
  from: number
  to: number
}

/** Still waiting for a decision. */
export function isOpen(status: HunkStatus): boolean {
  return status === 'pending' || status === 'conflict' || status === 'streaming'
}

export const hunkFrom = (hunk: Hunk): number => hunk.parts[0]?.from ?? 0
export const hunkTo = (hunk: Hunk): number => hunk.parts.at(-1)?.to ?? 0

/** Reading order: where the change begins, then its id, so that everybody numbers changes alike. */
export function inOrder(a: Hunk, b: Hunk): number {
  return hunkFrom(a) - hunkFrom(b) || hunkTo(a) - hunkTo(b) || (a.id < b.id ? -1 : 1)
}

/** The hunk after one update; `after` is the text the update left behind. */
export function rebaseHunk(hunk: Hunk, changes: ChangeSet, after: Text): Hunk {
  if (!isOpen(hunk.status)) return hunk
  const edits: Span[] = []
  changes.iterChangedRanges((from, to) => edits.push({ from, to }), true)
  const first = edits[0]
  if (!first || hunk.parts.every((part) => part.to < first.from)) return hunk
  const last = edits.at(-1)!.to
  let touched = false
  const parts = hunk.parts.map((part) => {
    if (part.to < first.from) return part
    touched ||= part.from <= last
    return rebasePart(part, edits, changes, after)
  })
  const moved = { ...hunk, parts }
  return touched && hunk.status !== 'streaming' ? { ...moved, status: statusOf(parts) } : moved
}

function rebasePart(part: Part, edits: readonly Span[], changes: ChangeSet, after: Text): Part {
  if (isInsertion(part)) {
    const at = changes.mapPos(part.from, 1)
    // A place that was removed does not come back.
    return marked(
      { ...part, from: at, to: at },
      part.conflict === true || edits.some((edit) => edit.from < part.from && part.from < edit.to),
    )
  }
  if (part.conflict || edits.some((edit) => changesInside(edit, part))) {
    // Outward, so that the words are inside again once they are back.
    const [from, to] = [changes.mapPos(part.from, -1), changes.mapPos(part.to, 1)]
    return marked({ ...part, from, to }, after.sliceString(from, to) !== part.base)
  }
  // Inward, so that what is typed at an edge stays outside.
  const from = changes.mapPos(part.from, 1)
  return { ...part, from, to: Math.max(from, changes.mapPos(part.to, -1)) }
}

const isInsertion = (part: Part): boolean => part.base === ''
const isGone = (part: Part): boolean => part.base !== '' && part.from === part.to

function marked(part: Part, conflict: boolean): Part {
  const { from, to, base, insert } = part
  return conflict ? { from, to, base, insert, conflict } : { from, to, base, insert }
}

/** The update deletes some of the part's words, or inserts strictly between them. */
function changesInside(edit: Span, part: Part): boolean {
  if (edit.from === edit.to) return part.from < edit.from && edit.from < part.to
  return Math.max(edit.from, part.from) < Math.min(edit.to, part.to)
}

function statusOf(parts: readonly Part[]): HunkStatus {
  const lost = (part: Part) => isGone(part) || (isInsertion(part) && part.conflict === true)
  if (parts.every(lost) && parts.some(isGone)) return 'obsolete'
  return parts.some((part) => part.conflict) ? 'conflict' : 'pending'
}

/** A hunk as it arrives: the text says which of its parts are in conflict. */
export function received(hunk: Hunk, doc: Text): Hunk {
  if (hunk.status !== 'conflict' || hunk.parts.some((part) => part.conflict)) return hunk
  const changed = (part: Part) =>
    !isInsertion(part) && doc.sliceString(part.from, part.to) !== part.base
  const words = hunk.parts.some(changed)
  return {
    ...hunk,
    parts: hunk.parts.map((part) => marked(part, words ? changed(part) : isInsertion(part))),
  }
}

/**
 * Returns whether the server's positions can be drawn on this text; anything else means that we
 * have lost step. Parts may lie over each other: in conflict they reach outward, and the place of
 * an insertion can come to lie inside words that were typed again.
 */
export function fits(hunk: Hunk, doc: Text): boolean {
  for (const part of hunk.parts) {
    if (!Number.isInteger(part.from) || !Number.isInteger(part.to)) return false
    if (part.from < 0 || part.to < part.from || part.to > doc.length) return false
    if (hunk.status === 'pending' && doc.sliceString(part.from, part.to) !== part.base) return false
  }
  return hunk.parts.length > 0
}

/**
 * Returns the text now in the whole span of the hunk; in its two places, if it is moved. The server
 * compares the same words.
 */
export function currentText(hunk: Hunk, doc: Text): string {
  if (isMoved(hunk)) return hunk.parts.map((part) => doc.sliceString(part.from, part.to)).join('')
  return doc.sliceString(hunkFrom(hunk), hunkTo(hunk))
}

/** Returns the text in its place if the hunk were accepted. */
export function proposedText(hunk: Hunk, doc: Text): string {
  return spanText(hunk, doc, 'insert')
}

/** Returns the text in its place when the AI read it. */
export function baseText(hunk: Hunk, doc: Text): string {
  return spanText(hunk, doc, 'base')
}

function spanText(hunk: Hunk, doc: Text, side: 'base' | 'insert'): string {
  // What is between the two places of a moved hunk is not its own.
  if (isMoved(hunk)) return hunk.parts.map((part) => part[side]).join('')
  let at = hunkFrom(hunk)
  let text = ''
  for (const part of hunk.parts) {
    text += doc.sliceString(at, part.from) + part[side]
    at = Math.max(at, part.to)
  }
  return text
}

/** The place where a person's own words for the hunk go. */
export function editRange(hunk: Hunk): { from: number; to: number } {
  const put = isMoved(hunk) ? hunk.parts.filter((part) => part.insert !== '') : hunk.parts
  return { from: put[0]?.from ?? hunkFrom(hunk), to: put.at(-1)?.to ?? hunkTo(hunk) }
}

/**
 * Returns the position at which the hunk is shown: its beginning, or the place of its words, if it
 * is moved.
 */
export const shownAt = (hunk: Hunk): number =>
  isMoved(hunk) ? editRange(hunk).from : hunkFrom(hunk)

/** Returns the words that a person who edits the hunk begins with. */
export function editableText(hunk: Hunk, doc: Text): string {
  if (!isMoved(hunk)) return proposedText(hunk, doc)
  return hunk.parts.map((part) => part.insert).join('')
}

/** The ranges that the hunk is about: all of its span, or its two places if it is moved. */
export function spans(hunk: Hunk): Span[] {
  if (isMoved(hunk)) return hunk.parts.map(({ from, to }) => ({ from, to }))
  return [{ from: hunkFrom(hunk), to: hunkTo(hunk) }]
}

/**
 * Returns whether the hunk can be made one hunk for each of its parts. Words that move are one
 * change.
 */
export const canSplit = (hunk: Hunk): boolean =>
  hunk.parts.length > 1 &&
  !isMoved(hunk) &&
  (hunk.status === 'pending' || hunk.status === 'conflict')

/** Returns whether a hunk is one of the parts that another one was split into. */
export function isPartOf(hunk: Hunk, whole: Hunk): boolean {
  const [part] = hunk.parts
  if (!part || hunk.request_id !== whole.request_id || hunk.parts.length > 1) return false
  const same = ({ from, to, base, insert }: Part) =>
    from === part.from && to === part.to && base === part.base && insert === part.insert
  return whole.parts.length > 1 && whole.parts.some(same)
}

/** Returns whether a person suggests or has imported it: those have a hash of their words. */
export const isByPerson = (hunk: Hunk): boolean => hunk.hash !== undefined

/** Returns whether the hunk takes words from one place to another. */
export const isMoved = (hunk: Hunk): boolean => hunk.kind === 'moved'
