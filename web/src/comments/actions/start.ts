/** Begins a comment: on selected words, on a change, or on the whole document. */
import type { EditorView } from '@codemirror/view'
import { wordsOf } from '../../document/frozenRanges.ts'
import { openDocument } from '../../document/openDocument.ts'
import type { Hunk } from '../../wire/generated.ts'
import { compose, mayComment, showThread, useComments } from '../stores/threads.ts'

/** Longest quotation that the server keeps. */
const LONGEST_QUOTE = 1_000

/** For the key: `false` where there is nothing to comment on. */
export function startComment(): boolean {
  const view = openDocument()?.view
  if (!view) return false
  const { active } = useComments.getState()
  const may = mayComment()
  if (may && commentOnSelection(view)) return true
  // With the caret in words that are commented on: the way to their thread.
  if (active !== null && view.hasFocus) showThread(active)
  else compose(may ? { on: 'document' } : null)
  return true
}

/** `false`: no words are selected. */
export function commentOnSelection({ state }: EditorView): boolean {
  const { from, to } = state.selection.main
  const range = wordsOf(state.sliceDoc(from, to), from)
  if (!range) return false
  const quote = state.sliceDoc(range.from, Math.min(range.to, range.from + LONGEST_QUOTE))
  compose({ on: 'passage', range, quote: quote.toWellFormed() })
  return true
}

export function commentOnChange({ id, request_id, parts }: Hunk): void {
  const words = parts.map(({ base, insert }) => insert || base).join(' … ')
  compose({ on: 'change', request_id, hunk_id: id, quote: words.slice(0, LONGEST_QUOTE) })
}
