/** Summaries of changes for the list: the same object as long as it shows the same. Pure. */
import type { Text } from '@codemirror/state'
import type { Hunk } from '../../wire/generated.ts'
import { isMoved } from './hunk.ts'
import { asEdited } from './editedHunk.ts'
import { type SnippetPiece, snippet } from './snippet.ts'
import { describeWords } from './changes.ts'
import { signOf } from './markWords.ts'

export interface HunkSummary {
  id: string
  /** For screen readers, without the number. */
  label: string
  pieces: readonly SnippetPiece[]
  isConflict: boolean
  isMoved: boolean
  /** True if the person has put the change off for later. */
  isLater: boolean
  /** Its writer is not done with it. */
  isWriting: boolean
  /** An edit of it is kept. */
  isEdited: boolean
  /** "Approved by Bo", or nothing. */
  approvedBy: string
  /** "number, name": what it does to the meaning, or nothing. The label says it in full. */
  sign: string
}

/** Facts about changes beside their words. */
interface Known {
  approvedBy: (hunk: Hunk) => string
  /** Words of one's own that are kept, by the change. */
  edits: Readonly<Record<string, string>>
  /** The changes that are put off for later. */
  later: ReadonlySet<string>
}

/**
 * The rows of changes where they stand in a text. A row of `before` that still shows the same is
 * kept, so that only those are drawn anew that differ.
 */
export function hunkSummaries(
  hunks: readonly Hunk[],
  doc: Text,
  { approvedBy, edits, later }: Known,
  before: readonly HunkSummary[] = [],
): readonly HunkSummary[] {
  const known = new Map(before.map((row) => [row.id, row]))
  return hunks.map((proposed) => {
    const isEdited = edits[proposed.id] !== undefined
    const isLater = later.has(proposed.id)
    const hunk = asEdited(proposed, edits[proposed.id], doc)
    const row: HunkSummary = {
      id: hunk.id,
      label: [describeWords(hunk), isLater && 'For later.', isEdited && `${EDIT_IS_KEPT}.`]
        .filter(Boolean)
        .join(' '),
      pieces: snippet(hunk, doc),
      isConflict: hunk.status === 'conflict',
      isMoved: isMoved(hunk),
      isLater,
      isWriting: hunk.writing === true,
      isEdited,
      approvedBy: approvedBy(hunk),
      sign: signOf(hunk),
    }
    const old = known.get(hunk.id)
    return old && showsSame(old, row) ? old : row
  })
}

const showsSame = (a: HunkSummary, b: HunkSummary): boolean =>
  a.label === b.label &&
  a.isConflict === b.isConflict &&
  a.isMoved === b.isMoved &&
  a.isWriting === b.isWriting &&
  a.isEdited === b.isEdited &&
  a.approvedBy === b.approvedBy &&
  a.pieces.length === b.pieces.length &&
  a.pieces.every(({ kind, text }, at) => kind === b.pieces[at]!.kind && text === b.pieces[at]!.text)

export const EDIT_IS_KEPT = 'Edit saved'
