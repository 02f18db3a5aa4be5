/** Threads of the open document, and what is shown of them. */
import { create } from 'zustand'
import { canComment } from '../../session/roles.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { usePanel } from '../../review/stores/panel.ts'
import type { Place } from '../state/drafts.ts'
import type { CommentThread, Person, ThreadStatus } from '../../wire/generated.ts'

export interface CommentsState {
  threads: readonly CommentThread[]
  /** Threads with comments of others that were not read. */
  unread: ReadonlySet<string>
  status: ThreadStatus
  /** The thread that is looked at. */
  active: string | null
  /** The thread whose card is given the keyboard. */
  focused: string | null
  /** Subject of the comment that is being written to begin a thread. */
  composing: Place | null
  /** People who are known besides; `null`: not asked for yet. */
  others: readonly Person[] | null
}

export const NO_COMMENTS: CommentsState = {
  threads: [],
  unread: new Set(),
  status: 'open',
  active: null,
  focused: null,
  composing: null,
  others: null,
}

export const useComments = create<CommentsState>()(() => NO_COMMENTS)

export const threadOf = (id: string | null): CommentThread | undefined =>
  useComments.getState().threads.find((thread) => thread.id === id)

export const mayComment = (): boolean => canComment(useOpenDocument.getState().role)

/** Opens the page of comments, at a thread. */
export function showThread(id: string): void {
  const status = threadOf(id)?.status ?? 'open'
  useComments.setState({ status, active: id, focused: id })
  usePanel.setState({ view: 'comments', open: true })
}

/** Opens the page of comments, with a field about a place. */
export function compose(place: Place | null): void {
  useComments.setState({ composing: place, status: 'open' })
  usePanel.setState({ view: 'comments', open: true })
}
