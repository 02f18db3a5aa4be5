/** The way to the next change that the person has not gone to yet. */
import { openDocument } from '../../document/openDocument.ts'
import { Button } from '../../ui/Button.tsx'
import { goUnread } from '../actions/activeChange.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { usePanel } from '../stores/panel.ts'

export function UnreadButton() {
  const hunks = useReviewState((review) => review.hunks)
  const unread = usePanel(({ read }) => hunks.filter(({ id }) => !read.has(id)).length)
  if (unread === 0 || hunks.length < 2) return null
  return (
    <Button
      look="quiet"
      aria-label={`Next unread change, ${unread} unread`}
      title="Go to the next change that you have not looked at (N)"
      onClick={() => {
        const view = openDocument()?.view
        if (view) goUnread(view)
      }}
    >
      {unread} unread
    </Button>
  )
}
