/** A plan that was decided: its text, or the answer to it. */
import type { ToolApprovalRequest } from '../../../wire/generated.ts'
import { Icon } from '../../../ui/icons.tsx'
import { outcomeSummary } from '../../state/outcomeSummary.ts'
import { Markdown } from '../../../ui/Markdown.tsx'
import { toolEffect } from '../../../wire/tools.ts'

export const isPlan = (request: ToolApprovalRequest): boolean =>
  toolEffect(request.tool_name) === 'plans'

/** The plan as the model wrote it, or as it was edited. */
export function planOf(request: ToolApprovalRequest): string {
  const { plan } = (request.tool_input ?? {}) as { plan?: unknown }
  return request.new_content ?? (typeof plan === 'string' ? plan : '')
}

const APPROVED = 'The approved plan:\n\n'

/** The plan as it was approved, in the words for the AI: it may have been edited. */
export function approvedPlan(request: ToolApprovalRequest): string {
  const at = request.report.indexOf(APPROVED)
  return at < 0 ? planOf(request) : request.report.slice(at + APPROVED.length)
}

/** A plan that was decided, or that ended without a decision. */
export function PlanOutcome({ request }: { request: ToolApprovalRequest }) {
  const good = request.status === 'approved'
  return (
    <>
      <p className="tool-line">
        <Icon name={good ? 'check' : 'cross'} size={13} />
        <span>
          Plan: {outcomeSummary(request)}
          {request.feedback ? `: “${request.feedback}”` : ''}
        </span>
      </p>
      <details className="told">
        <summary>{good ? 'The approved plan' : 'What it was'}</summary>
        <Markdown text={good ? approvedPlan(request) : planOf(request)} />
      </details>
    </>
  )
}
