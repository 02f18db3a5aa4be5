/**
 * The decision about a request, the words for the AI, and the ways back: undo, or propose again.
 */
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { useSession } from '../../../session/store.ts'
import { Icon } from '../../../ui/icons.tsx'
import type { ToolApprovalRequest } from '../../../wire/generated.ts'
import { AutomaticDecision } from '../../../rules/AutomaticDecision.tsx'
import { proposeAgain } from '../../actions/reopen.ts'
import { DecidedHunks } from './DecidedHunks.tsx'
import { undo } from '../../actions/undo.ts'
import { outcomeSummary } from '../../state/outcomeSummary.ts'
import { UndoReopenButtons } from './UndoReopenButtons.tsx'
import { canDecide } from '../../../session/roles.ts'
import { isRefused } from '../../state/refused.ts'

export function RequestOutcome({
  request,
  open = false,
}: {
  request: ToolApprovalRequest
  open?: boolean
}) {
  const me = useSession((session) => session.me?.user.id)
  // What was said with an earlier decision is not about how it ended.
  const saidNo =
    request.hunks.length === 0 || request.hunks.some((hunk) => hunk.status === 'rejected')
  const good = request.status === 'approved' || request.status === 'partly'
  return (
    <>
      {request.explanation && <p className="answer">{request.explanation}</p>}
      <p className="tool-line">
        <Icon name={good ? 'check' : 'cross'} size={13} />
        <span>
          {outcomeSummary(request, me)}
          {saidNo && request.feedback ? `: “${request.feedback}”` : ''}
        </span>
      </p>
      <AutomaticDecision verb="Accepted" request={request} />
      <Back request={request} />
      <DecidedHunks label="Show the changes" hunks={request.hunks} open={open} />
      {request.report && request.source !== 'person' && (
        <details className="told">
          <summary>What the AI was told</summary>
          <pre>{request.report}</pre>
        </details>
      )}
    </>
  )
}

function Back({ request }: { request: ToolApprovalRequest }) {
  const mayDecide = canDecide(useOpenDocument((state) => state.role))
  const accepted = request.hunks.filter((hunk) => hunk.status === 'accepted').length
  const refused = request.hunks.filter(isRefused).length
  return (
    <UndoReopenButtons
      ways={[
        mayDecide &&
          refused > 0 && {
            label: refused === 1 ? 'Bring back' : `Bring back all ${refused}`,
            act: () => void proposeAgain(request),
          },
        mayDecide &&
          accepted > 0 && {
            label: accepted === 1 ? 'Undo 1 change' : `Undo ${accepted} changes`,
            act: () => void undo(request.request_id),
          },
      ]}
    />
  )
}
