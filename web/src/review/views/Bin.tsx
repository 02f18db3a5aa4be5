/** The bin: what was not accepted stays readable, and can be proposed again on today's text. */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { Icon } from '../../ui/icons.tsx'
import { clockTime, plural } from '../../ui/timeFormat.ts'
import { proposedBy } from '../../ui/importReport.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { BinPages } from './BinPages.tsx'
import { ofDocument } from '../actions/bin.ts'
import { RequestOutcome } from './cards/RequestOutcome.tsx'
import { useRequests } from '../stores/requests.ts'
import type { Filter } from '../state/refused.ts'
import './Bin.css'

const FILTERS: readonly (readonly [Filter, string])[] = [
  ['all', 'All'],
  ['rejected', 'Rejected'],
  ['expired', 'Expired'],
  ['cancelled', 'Cancelled'],
]

export function Bin() {
  const id = useOpenDocument((state) => state.id)
  const live = useRequests((review) => review.requests)
  return (
    <BinPages
      bin={ofDocument}
      id={id}
      filters={FILTERS}
      live={live}
      list={(requests) =>
        requests.map((request) => <Card key={request.request_id} request={request} />)
      }
      empty={(filter) => <Empty filter={filter} />}
    />
  )
}

function Card({ request }: { request: ToolApprovalRequest }) {
  return (
    <article
      className="card binned"
      aria-label={request.prompt ? `Not accepted: ${request.prompt}` : 'Not accepted'}
    >
      <div className="card-head">
        <span className="spark">
          <Icon name="archive" />
        </span>
        <h3>{proposedBy(request)}</h3>
        <p>
          Proposed {clockTime(request.created_at)} · {plural(request.hunks.length, 'change')}
        </p>
      </div>
      {request.prompt && <p className="prompt">{request.prompt}</p>}
      <RequestOutcome request={request} open={request.hunks.length <= 3} />
    </article>
  )
}

function Empty({ filter }: { filter: Filter }) {
  return (
    <div className="calm">
      <span className="spark">
        <Icon name="archive" size={26} />
      </span>
      <strong>{filter === 'all' ? 'The bin is empty.' : 'Nothing of that kind.'}</strong>
      <p>Rejected and expired changes are kept here. They can be proposed again.</p>
    </div>
  )
}
