/** A change that waits for more people, in words. */
import { useSession } from '../../session/store.ts'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { approversOf, useOwnDecisions } from '../state/ownDecisions.ts'
import { approvedWords } from '../wording/permissions.ts'

/** Who approved it, and who is still needed. */
export function useApproved(hunk: Hunk | undefined, request?: ToolApprovalRequest): string {
  const here = useOwnDecisions(({ approved }) => approved)
  const me = useSession((session) => session.me?.user.id)
  return hunk && request ? approvedWords(approversOf(hunk, here, me), request.approvals) : ''
}
