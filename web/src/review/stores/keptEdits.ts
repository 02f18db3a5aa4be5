/** The changes of which an edit is kept, for what shows them. */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import type { Hunk } from '../../wire/generated.ts'
import { usePanel } from './panel.ts'
import { keptEdits, useDrafts } from './drafts.ts'
import type { Drafts } from '../state/drafts.ts'

/** Follows whether an edit of a change is kept. */
export function useHasKeptEdit(hunk: Hunk | undefined): boolean {
  return useKeptEdits().has(hunk?.id ?? '')
}

/** The changes of which an edit is kept; follows them, and not each letter of an edit. */
export function useKeptEdits(): ReadonlySet<string> {
  useOpenDocument(({ role }) => role)
  useDrafts(({ written }) => Object.keys(written).join())
  return new Set(Object.keys(keptEdits()))
}

/** The words of the edits that are kept; while one is written, not each letter of it. */
export function useKeptWords(): Drafts['written'] {
  useOpenDocument(({ role }) => role)
  const editing = usePanel((panel) => panel.editing)
  useDrafts(({ written }) => (editing === null ? written : Object.keys(written).join()))
  return keptEdits()
}
