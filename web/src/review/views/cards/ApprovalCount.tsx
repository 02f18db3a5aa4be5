/**
 * The approvals that a request needs, and those it has: nothing where every reviewer decides alone.
 */
import type { ToolApprovalRequest } from '../../../wire/generated.ts'
import { votedOf } from '../../state/votes.ts'
import { consentOf } from '../../state/permissions.ts'

export function ApprovalCount({
  request,
}: {
  request: Pick<ToolApprovalRequest, 'policies' | 'approvals' | 'hunks'>
}) {
  return (
    <>
      {consentOf(request, votedOf([request])).map((words) => (
        <span key={words} className="badge">
          {words}
        </span>
      ))}
    </>
  )
}
