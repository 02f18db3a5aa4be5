/**
 * A decision without a person: by a rule, or because approvals were off. Undo works all the same.
 */
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import type { ToolApprovalRequest } from '../wire/generated.ts'
import { useRules } from './store.ts'
import { automatic } from './wording.ts'
import './AutomaticDecision.css'

export function AutomaticDecision({
  verb,
  request,
}: {
  verb: string
  request: ToolApprovalRequest
}) {
  const me = useSession((session) => session.me?.user.id)
  const known = useRules((state) => state.known)
  const said = automatic(verb, request, me, known)
  if (said === null) return null
  return (
    <p className="by-rule">
      <span className="badge is-rule">
        <Icon name="clock" size={12} /> {said.how}
      </span>
      {said.why && <span className="by-rule-why">{said.why}</span>}
    </p>
  )
}
