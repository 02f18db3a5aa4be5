/** The title of the tab while a document is open. */
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { useTabTitle, type Waiting } from '../navigation/tabTitle.ts'
import { useReviewState } from '../review/hooks/useReviewState.ts'
import { useRequests } from '../review/stores/requests.ts'
import { useReviewer } from '../review/stores/reviewer.ts'
import { mayDecide } from '../review/state/permissions.ts'
import { isWaiting } from '../review/state/requests.ts'
import { hasVoted } from '../review/stores/votes.ts'

/** Shows nothing: the page around the text need not be drawn anew when the changes move. */
export function TabTitle() {
  const title = useOpenDocument((state) => state.title)
  useTabTitle(title, useWaiting())
  return null
}

/**
 * Changes of the text that wait, and requests that are no changes: all of them, and those that we
 * have to decide.
 */
function useWaiting(): Waiting {
  const hunks = useReviewState(({ hunks }) => hunks)
  const requests = useRequests((state) => state.requests)
  const reviewer = useReviewer()
  const decides = (id: string) => {
    const request = requests[id]
    return request !== undefined && mayDecide(request, reviewer)
  }
  const waiting = hunks.filter(({ status }) => status === 'pending' || status === 'conflict')
  const others = Object.values(requests).filter(
    (request) => isWaiting(request) && request.hunks.length === 0,
  )
  return {
    all: waiting.length + others.length,
    mine:
      waiting.filter((hunk) => decides(hunk.request_id) && !hasVoted(hunk)).length +
      others.filter((request) => decides(request.request_id)).length,
  }
}
