/** The bin of the desk: what has ended there, who ended it, and the ways back. */
import { BinPages } from '../review/views/BinPages.tsx'
import { WORKSPACE_INBOX } from '../review/actions/bin.ts'
import { bin } from './state/bin.ts'
import { InboxCard } from './InboxCard.tsx'
import { useInbox } from './state/store.ts'
import type { Filter } from '../review/state/refused.ts'
import './InboxBin.css'

const FILTERS: readonly (readonly [Filter, string])[] = [
  ['all', 'All'],
  ['approved', 'Approved'],
  ['rejected', 'Rejected'],
  ['expired', 'Expired'],
  ['cancelled', 'Cancelled'],
]

export function InboxBin() {
  const live = useInbox((inbox) => inbox.requests)
  return (
    <section className="inbox-bin" aria-label="Earlier">
      <h3 className="earlier">Earlier</h3>
      <BinPages
        bin={bin}
        id={WORKSPACE_INBOX}
        filters={FILTERS}
        live={live}
        list={(requests) => (
          <ul className="inbox-cards" aria-label="Earlier">
            {requests.map((request) => (
              <InboxCard key={request.request_id} request={request} />
            ))}
          </ul>
        )}
        empty={(filter) => (
          <p className="inbox-none">
            {filter === 'all' ? 'Nothing has been decided here yet.' : 'Nothing of that kind.'}
          </p>
        )}
      />
    </section>
  )
}
