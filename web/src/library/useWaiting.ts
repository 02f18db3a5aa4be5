/** The requests that wait in all documents and at the desk. */
import type { DocumentLine } from '../wire/generated.ts'
import type { Waiting } from '../navigation/tabTitle.ts'
import { splitByWaiting, useInbox } from '../workspace-inbox/state/store.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import { mayDecide } from '../review/state/permissions.ts'

/** Counts what waits in the documents and at the desk. */
export function useWaiting(documents: readonly DocumentLine[]): Waiting {
  const requests = splitByWaiting(useInbox((state) => state.requests)).waiting
  const reviewer = useInboxReviewer()
  const sum = (counts: readonly number[]) => counts.reduce((whole, count) => whole + count, 0)
  return {
    all: sum(documents.map(({ waiting }) => waiting)) + requests.length,
    mine:
      sum(documents.map(({ waitingForYou }) => waitingForYou)) +
      requests.filter((request) => mayDecide(request, reviewer)).length,
  }
}
