/** The bin: what was not accepted stays readable, and can be proposed again on today's text. */
import { useEffect } from 'react'
import { useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { clock, many } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { type Filter, inBin, loadBin, loadMore, useBin } from './bin.ts'
import { Outcome } from './Outcome.tsx'
import { useReview } from './store.ts'

const FILTERS: readonly (readonly [Filter, string])[] = [['all', 'All'], ['rejected', 'Rejected'], ['expired', 'Expired'], ['cancelled', 'Cancelled']]

export function Bin() {
  const id = useDocument((state) => state.id)
  const online = useSession((session) => session.link === 'online')
  const { filter, requests: read, more, state } = useBin()
  const live = useReview((review) => review.requests)
  useEffect(() => {
    if (id !== null && online) void loadBin(id, useBin.getState().filter)
  }, [id, online])
  const requests = inBin(read, filter, live)
  const choose = (wanted: Filter) => id !== null && void loadBin(id, wanted)
  return (
    <>
      <div className="chips bin-filter" role="group" aria-label="Show">
        {FILTERS.map(([name, words]) => (
          <button type="button" key={name} className="chip" aria-pressed={name === filter} disabled={!online} onClick={() => choose(name)}>{words}</button>
        ))}
      </div>
      {requests.map((request) => <Card key={request.request_id} request={request} />)}
      {requests.length === 0 && state === 'ready' && <Empty filter={filter} />}
      {state === 'loading' && <p className="dots" role="status">Looking</p>}
      {state === 'failed' && (
        <p className="warn-note" role="alert">
          The bin could not be read. <button type="button" className="link" onClick={() => choose(filter)}>Try again</button>
        </p>
      )}
      {more && state === 'ready' && <button type="button" className="button" disabled={!online} onClick={() => void loadMore()}>Show older</button>}
    </>
  )
}

function Card({ request }: { request: ApprovalRequest }) {
  return (
    <article className="card binned" aria-label={request.prompt ? `Not accepted: ${request.prompt}` : 'Not accepted'}>
      <div className="card-head">
        <span className="spark"><Icon name="trash" /></span>
        <h3>AI for {request.author.name}</h3>
        <p>Proposed {clock(request.created_at)} · {many(request.hunks.length, 'change')}</p>
      </div>
      {request.prompt && <p className="prompt">{request.prompt}</p>}
      <Outcome request={request} open={request.hunks.length <= 3} />
    </article>
  )
}

function Empty({ filter }: { filter: Filter }) {
  return (
    <div className="calm">
      <span className="spark"><Icon name="trash" size={26} /></span>
      <strong>{filter === 'all' ? 'The bin is empty.' : 'Nothing of that kind.'}</strong>
      <p>What you reject, what runs out of time and what loses its words waits here, and can be proposed again.</p>
    </div>
  )
}
