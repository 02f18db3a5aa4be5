/**
 * One request without a document: what would happen, what to look out for, and the decisions about
 * it.
 */
import { useId } from 'react'
import { toolName } from '../chat/tools.ts'
import { ApprovalCount } from '../review/views/cards/ApprovalCount.tsx'
import { isWaiting } from '../review/state/requests.ts'
import { AutomaticDecision } from '../rules/AutomaticDecision.tsx'
import { timeAgo } from '../ui/timeFormat.ts'
import type { ToolApprovalRequest } from '../wire/generated.ts'
import { toolEffect } from '../wire/tools.ts'
import { InboxDecisions } from './InboxDecisions.tsx'
import { ResolvedCard } from './ResolvedCard.tsx'
import { CallPreview } from './CallPreview.tsx'
import { showInvisible } from '../ui/visibleText.ts'
import { outcomeOf, scopeOf } from './state/wording.ts'
import { AftermathNotes } from './AftermathNotes.tsx'
import './InboxCard.css'

interface Props {
  request: ToolApprovalRequest
  /** True if the person is at this one. */ active?: boolean
}

export function InboxCard({ request, active = false }: Props) {
  const about = useId()
  const waiting = isWaiting(request)
  const scope = scopeOf(request)
  const isNew = (request.preview_data as { is_new_file?: boolean } | null)?.is_new_file === true
  return (
    <li
      className={`inbox-card ${active ? 'is-active' : ''}`}
      aria-label={scope}
      aria-describedby={about}
      aria-current={active ? 'true' : undefined}
      tabIndex={-1}
      {...(waiting ? { 'data-request': request.request_id } : { 'data-ended': request.request_id })}
    >
      <div className="inbox-card-head">
        <strong>{showInvisible(toolName(request.tool_name))}</strong>
        {request.file_path && <code>{showInvisible(request.file_path)}</code>}
        {isNew && (
          <span className="badge is-plain">
            {toolEffect(request.tool_name) === 'creates' ? 'new document' : 'new file'}
          </span>
        )}
        {waiting && <ApprovalCount request={request} />}
        {!waiting && (
          <span className={`inbox-outcome is-${request.status}`}>{outcomeOf(request)}</span>
        )}
      </div>
      <p className="inbox-asked" id={about}>
        Asked by {request.author.name}, {timeAgo(request.created_at, Date.now())}: “
        {showInvisible(request.prompt)}”
      </p>
      <AftermathNotes request={request} scope={scope} />
      {!waiting && <AutomaticDecision verb="Approved" request={request} />}
      {request.explanation && (
        <p className="inbox-says">
          <b>The AI says:</b> {showInvisible(request.explanation)}
        </p>
      )}
      {waiting && request.warnings.length > 0 && (
        <ul className="inbox-warnings" aria-label="Warnings">
          {request.warnings.map((warning) => (
            <li key={warning.code + warning.text} className="warn-note">
              {showInvisible(warning.text)}
            </li>
          ))}
        </ul>
      )}
      {waiting ? (
        <CallPreview request={request} />
      ) : (
        <ResolvedCard request={request} scope={scope} />
      )}
      {waiting && <InboxDecisions request={request} scope={scope} />}
    </li>
  )
}
