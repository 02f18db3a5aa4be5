/** What has ended at the desk, page by page. */
import { deskBin, DESK, loadBin } from '../review/bin.ts'
import { useDesk } from './store.ts'

/** What was read is kept with what we were told: what becomes of it later is told of both alike. */
export const bin = deskBin((read) => useDesk.setState(({ requests }) => ({ requests: { ...requests, ...Object.fromEntries(read.map((request) => [request.request_id, request])) } })))

/** Goes to a card, once it is there. */
export function goTo(id: string): void {
  const { filter } = bin.use.getState()
  // One that another filter hides comes with the rest.
  if (filter !== 'all') void loadBin(DESK, 'all', bin)
  useDesk.setState({ wanted: id })
}
