/** Runs that have not ended, anybody's, and what waits for people. */
import { Button } from '../ui/Button.tsx'
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { plural, timeAgo } from '../ui/timeFormat.ts'
import { toast } from '../ui/toasts.ts'
import type { UnfinishedRun, WorkInProgress } from '../wire/generated.ts'

export function WorkSection({ work, onChange }: { work: WorkInProgress; onChange: () => void }) {
  const { runs, runsLeftOut, openRequests } = work
  return (
    <section className="server-section" aria-labelledby="server-work">
      <h2 id="server-work">Work in progress</h2>
      <p className="quiet" role="status">
        {openRequests === 0
          ? 'No request needs a decision.'
          : `${plural(openRequests, 'request')} ${openRequests === 1 ? 'needs' : 'need'} a decision.`}
        {runs.length === 0 && ' No run is in progress.'}
      </p>
      <ul className="server-list" aria-label="Runs in progress">
        {runs.map((run) => (
          <RunLine key={`${run.sessionId}/${run.requestId}`} run={run} onStopped={onChange} />
        ))}
      </ul>
      {runsLeftOut > 0 && <p className="quiet">And {plural(runsLeftOut, 'more run')}.</p>}
    </section>
  )
}

function RunLine({ run, onStopped }: { run: UnfinishedRun; onStopped: () => void }) {
  const { sessionId, requestId, by, documentId, title, state, createdAt } = run
  const name = by.name || 'Somebody'
  const place = title ?? 'no document'
  const stop = async () => {
    if (!(await attempt(wire.call('server:stop', { sessionId, requestId })))) return
    toast(`The run of ${name} is stopped.`)
    onStopped()
  }
  return (
    <li>
      <span>
        <b>{name}</b>
        <span className="quiet">
          {documentId === null ? 'No document' : <Link to={documentPath(documentId)}>{place}</Link>}
          {` · asked ${timeAgo(createdAt, Date.now())}`}
          {state === 'queued' && ' · waits for another run'}
        </span>
      </span>
      <Button aria-label={`Stop the run of ${name} about ${place}`} onClick={() => void stop()}>
        <Icon name="stop" size={14} /> Stop
      </Button>
    </li>
  )
}
