/**
 * Whose yes a request needs, and how many it has: nothing where anybody who reviews decides alone.
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
