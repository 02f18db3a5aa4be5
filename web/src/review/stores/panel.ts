/**
 * The open parts of the panel: the sheet on a phone, the change being edited, the one being
 * rejected with a reason.
 */
import { create } from 'zustand'
import type { Hunk } from '../../wire/generated.ts'
import type { Arrangement } from '../state/marks.ts'
import type { Accept } from '../state/streak.ts'
import { useRequests } from './requests.ts'

/** Several changes that are shown before they are decided. */
export interface Together {
  /** "Corrections" */
  title: string
  /** The changes as they were when the list was opened. */
  hunks: readonly Hunk[]
  /** True if they are accepted because they keep the meaning: only changes without marks. */
  keepsMeaning?: boolean
}

/** The comparison side by side. */
export interface Comparison {
  /** The request whose changes are compared. */
  request: string
  /** One of its changes, where only the paragraph of that is compared. */
  paragraphOf: string | null
}

interface PanelState {
  /** Only matters where the panel is a bottom sheet. */
  open: boolean
  /** The page of the panel. */
  view: 'suggestions' | 'bin' | 'comments'
  /** The change whose proposed text is being edited. */
  editing: string | null
  /** The change or request for which a reason is being written. */
  reasoning: string | null
  /** Changes that are listed to be decided together. */
  together: Together | null
  /** The changes that are listed, and their order. */
  list: Arrangement
  /** The changes that the person has gone to, in this browser. */
  read: ReadonlySet<string>
  /** Changes of meaning that were accepted fast, while that is remarked on. */
  remark: readonly Accept[] | null
  /** Those of them that are looked at again. */
  again: readonly Accept[] | null
  /** The open comparison; `null`: it is closed. */
  comparing: Comparison | null
  /** The last change was decided in the review bar, and the keyboard is still there. */
  finished: boolean
}

/** The person who made the changes, or asked for them. */
function personOf(id: string): string {
  const request = useRequests.getState().requests[id]
  return request?.claimedAuthor?.name ?? request?.author.name ?? ''
}

export const usePanel = create<PanelState>()(() => ({
  open: false,
  view: 'suggestions',
  editing: null,
  reasoning: null,
  together: null,
  list: { show: 'all', order: 'place', later: new Set(), personOf },
  read: new Set(),
  remark: null,
  again: null,
  comparing: null,
  finished: false,
}))
