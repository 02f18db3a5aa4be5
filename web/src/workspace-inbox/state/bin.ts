/** Ended requests of the desk, page by page. */
import { inboxBin, WORKSPACE_INBOX, loadBin } from '../../review/actions/bin.ts'
import { useInbox } from './store.ts'

/**
 * Requests that were read are kept with those that were announced: later events reach both alike.
 */
export const bin = inboxBin((read) =>
  useInbox.setState(({ requests }) => ({
    requests: {
      ...requests,
      ...Object.fromEntries(read.map((request) => [request.request_id, request])),
    },
  })),
)

/** Goes to a card, once it is there. */
export function goTo(id: string): void {
  const { filter } = bin.use.getState()
  // One that another filter hides comes with the rest.
  if (filter !== 'all') void loadBin(WORKSPACE_INBOX, 'all', bin)
  useInbox.setState({ wanted: id })
}
