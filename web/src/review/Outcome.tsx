/** What people decided about a request, what the AI was told, and the ways back: undo, or propose again. */
import { canDecide, useDocument } from '../editor/store.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import type { ApprovalRequest } from '../wire/types.ts'
import { Automatic } from '../rules/Automatic.tsx'
import { isRefused, proposeAgain } from './again.ts'
import { Decided } from './Decided.tsx'
import { undo } from './decide.ts'
import { summary } from './fate.ts'

export function Outcome({ request, open = false }: { request: ApprovalRequest; open?: boolean }) {
  const me = useSession((session) => session.me?.user.id)
  // What was said with an earlier decision is not about how it ended.
  const saidNo = request.hunks.length === 0 || request.hunks.some((hunk) => hunk.status === 'rejected')
  const good = request.status === 'approved' || request.status === 'partly'
  return (
    <>
      {request.explanation && <p className="answer">{request.explanation}</p>}
      <p className="tool-line">
        <Icon name={good ? 'check' : 'cross'} size={13} />
        <span>{summary(request, me)}{saidNo && request.feedback ? `: “${request.feedback}”` : ''}</span>
      </p>
      <Automatic verb="Accepted" request={request} />
      <WaysBack request={request} />
      <Decided label="What it was about" hunks={request.hunks} open={open} />
      {request.report && (
        <details className="told">
          <summary>What the AI was told</summary>
          <pre>{request.report}</pre>
        </details>
      )}
    </>
  )
}

function WaysBack({ request }: { request: ApprovalRequest }) {
  const mayDecide = canDecide(useDocument((state) => state.role))
  const canReopen = useCapability('reopen')
  const canUndo = useCapability('undo')
  const offline = useSession((session) => session.link !== 'online')
  const accepted = request.hunks.filter((hunk) => hunk.status === 'accepted').length
  const refused = request.hunks.filter(isRefused).length
  const [undoes, reopens] = [canUndo && accepted > 0, canReopen && refused > 0]
  if (!mayDecide || (!undoes && !reopens)) return null
  return (
    <div className="ways-back">
      {reopens && <button type="button" className="button" disabled={offline} onClick={() => void proposeAgain(request)}>{refused === 1 ? 'Propose again' : `Propose all ${refused} again`}</button>}
      {undoes && <button type="button" className="button" disabled={offline} onClick={() => void undo(request.request_id)}>{accepted === 1 ? 'Undo 1 change' : `Undo ${accepted} changes`}</button>}
    </div>
  )
}
