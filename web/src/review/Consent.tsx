/** Whose yes a request needs, and how many it has: nothing where anybody who reviews decides alone. */
import type { ApprovalRequest } from '../wire/types.ts'
import { consentOf } from './who.ts'

export function Consent({ request }: { request: Pick<ApprovalRequest, 'policies' | 'approvals'> }) {
  return <>{consentOf(request).map((words) => <span key={words} className="badge">{words}</span>)}</>
}
