/**
 * The open parts of the panel: the sheet on a phone, the change being edited, the one being
 * rejected with a reason.
 */
import { create } from 'zustand'

/** Several changes that are shown before they are decided. */
export interface Together {
  /** "Corrections" */
  title: string
  ids: readonly string[]
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
  view: 'suggestions' | 'bin'
  /** The change whose proposed text is being edited. */
  editing: string | null
  /** The change or request for which a reason is being written. */
  reasoning: string | null
  /** Changes that are listed to be decided together. */
  together: Together | null
  /** The open comparison; `null`: it is closed. */
  comparing: Comparison | null
  /** The last change was decided in the review bar, and the keyboard is still there. */
  finished: boolean
}

export const usePanel = create<PanelState>()(() => ({
  open: false,
  view: 'suggestions',
  editing: null,
  reasoning: null,
  together: null,
  comparing: null,
  finished: false,
}))
