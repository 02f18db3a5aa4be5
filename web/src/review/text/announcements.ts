/**
 * A change that people have watched being written ends: that is said quietly, once. What grows on
 * the screen is not read out.
 */
import { EditorView } from '@codemirror/view'
import { plural } from '../../ui/timeFormat.ts'
import { dismissAbout } from '../../ui/toasts.ts'
import { useSession } from '../../session/store.ts'
import type { Hunk, ToolApprovalRequest, ToolApprovalUpdate } from '../../wire/generated.ts'
import { describeWords } from '../state/changes.ts'
import { useRequests } from '../stores/requests.ts'

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

/**
 * Says what another person suggests once it is written: a sentence that is written on is heard when
 * it is done. Called before the store knows of the changes.
 */
export function announceSuggested(view: EditorView, put: readonly Hunk[]): void {
  const { requests } = useRequests.getState()
  const me = useSession.getState().me?.user.id
  for (const hunk of put) {
    const { source, author, hunks } = requests[hunk.request_id] ?? {}
    const was = hunks?.find(({ id }) => id === hunk.id)
    const isDone = was?.writing === true && !hunk.writing && hunk.status === 'pending'
    if (source !== 'person' || !author || author.id === me || !isDone) continue
    const effects = EditorView.announce.of(`${author.name} suggests. ${describeWords(hunk)}`)
    // Not before the update that it came with is shown.
    queueMicrotask(() => view.dispatch({ effects }))
  }
}

function say(view: EditorView, id: string, words: string): void {
  if (id in useRequests.getState().writing)
    view.dispatch({ effects: EditorView.announce.of(words) })
}
