/**
 * A change that people have watched being written ends: that is said quietly, once. What grows on
 * the screen is not read out.
 */
import { EditorView } from '@codemirror/view'
import { plural } from '../../ui/timeFormat.ts'
import { dismissAbout } from '../../ui/toasts.ts'
import type { ToolApprovalRequest, ToolApprovalUpdate } from '../../wire/generated.ts'
import { useReview } from '../stores/requests.ts'

/** Subject of the toast that says why there is nothing to review. */
export const NOTHING_TO_REVIEW_TOAST = 'nothing to review'

/** Called before the store knows of the request. */
export function announceWritingDone(view: EditorView, request: ToolApprovalRequest): void {
  dismissAbout(NOTHING_TO_REVIEW_TOAST)
  say(
    view,
    request.request_id,
    `The AI has finished writing: ${plural(request.hunks.length, 'change')} to review.`,
  )
}

/** Called before the store knows of the update. */
export function announceWritingStopped(view: EditorView, update: ToolApprovalUpdate): void {
  if (update.status !== 'streaming')
    say(view, update.request_id, 'The AI stopped writing. Nothing of it is left to review.')
}

function say(view: EditorView, id: string, words: string): void {
  if (id in useReview.getState().writing) view.dispatch({ effects: EditorView.announce.of(words) })
}
