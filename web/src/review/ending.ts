/** A change that people have watched being written ends: that is said quietly, once. What grows on the screen is not read out. */
import { EditorView } from '@codemirror/view'
import { many } from '../ui/when.ts'
import type { ApprovalRequest, ApprovalUpdate } from '../wire/types.ts'
import { updated, useReview } from './store.ts'

/** Before the store knows of it. */
export function endedAsRequest(view: EditorView, request: ApprovalRequest): void {
  say(view, request.request_id, `The AI has finished writing: ${many(request.hunks.length, 'change')} to review.`)
}

/** A request changed, or what is not one yet. */
export function changed(view: EditorView, update: ApprovalUpdate): void {
  if (update.status !== 'streaming') say(view, update.request_id, 'The AI stopped writing. Nothing of it is left to review.')
  useReview.setState((state) => updated(state, update))
}

function say(view: EditorView, id: string, words: string): void {
  if (id in useReview.getState().writing) view.dispatch({ effects: EditorView.announce.of(words) })
}
