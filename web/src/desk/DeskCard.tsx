/** One request without a document: what would happen, what to look out for, and the decisions about it. */
import { useId } from 'react'
import { toolName } from '../chat/tools.ts'
import { Consent } from '../review/Consent.tsx'
import { isWaiting } from '../review/store.ts'
import { Automatic } from '../rules/Automatic.tsx'
import { ago } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { Decisions } from './Decisions.tsx'
import { Over, Since } from './Over.tsx'
import { Preview } from './Preview.tsx'
import { visible } from './shown.ts'
import { outcomeOf, scopeOf } from './words.ts'

interface Props { request: ApprovalRequest; /** Somebody is at this one. */ active?: boolean }

export function DeskCard({ request, active = false }: Props) {
  const about = useId()
  const waiting = isWaiting(request)
  const scope = scopeOf(request)
  const isNew = (request.preview_data as { is_new_file?: boolean } | null)?.is_new_file === true
  return (
    <li
      className={`desk-card ${active ? 'is-active' : ''}`} aria-label={scope} aria-describedby={about} aria-current={active ? 'true' : undefined}
      tabIndex={-1} {...(waiting ? { 'data-request': request.request_id } : { 'data-ended': request.request_id })}
    >
      <div className="desk-card-head">
        <strong>{visible(toolName(request.tool_name))}</strong>
        {request.file_path && <code>{visible(request.file_path)}</code>}
        {isNew && <span className="badge is-plain">{request.tool_name === 'create_new_document' ? 'new document' : 'new file'}</span>}
        {waiting && <Consent request={request} />}
        {!waiting && <span className={`desk-outcome is-${request.status}`}>{outcomeOf(request)}</span>}
      </div>
      <p className="desk-asked" id={about}>{request.author.name}, {ago(request.created_at, Date.now())}: {visible(request.prompt)}</p>
      <Since request={request} scope={scope} />
      {!waiting && <Automatic verb="Approved" request={request} />}
      {request.explanation && <p className="desk-says"><b>The AI says:</b> {visible(request.explanation)}</p>}
      {waiting && request.warnings.length > 0 && (
        <ul className="desk-warnings" aria-label="Warnings">
          {request.warnings.map((warning) => <li key={warning.code + warning.text} className="warn-note">{visible(warning.text)}</li>)}
        </ul>
      )}
      {waiting ? <Preview request={request} /> : <Over request={request} scope={scope} />}
      {waiting && <Decisions request={request} scope={scope} />}
    </li>
  )
}
