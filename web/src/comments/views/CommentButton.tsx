/** In the card of a change: the way to its thread, or to a first comment on it. */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { canComment } from '../../session/roles.ts'
import type { Hunk } from '../../wire/generated.ts'
import { Button } from '../../ui/Button.tsx'
import { commentOnChange } from '../actions/start.ts'
import { showThread, useComments } from '../stores/threads.ts'

export function CommentButton({ hunk, number }: { hunk: Hunk; number: number }) {
  const isWriter = useOpenDocument(({ role }) => canComment(role))
  const thread = useComments(({ threads }) =>
    threads.find(({ hunk_id, status }) => hunk_id === hunk.id && status !== 'resolved'),
  )
  if (!isWriter && !thread) return null
  const count = thread?.comments.filter(({ deleted }) => !deleted).length
  const words = count === undefined ? 'Comment' : `Comments (${count})`
  return (
    <Button
      look="quiet"
      aria-label={`${words} on change ${number}`}
      onClick={() => (thread ? showThread(thread.id) : commentOnChange(hunk))}
    >
      {words}
    </Button>
  )
}
