/** A role that was given in this document. */
import type { Role, DocumentRoleLine } from '../wire/generated.ts'
import {
  DOCUMENT_ROLES,
  granteeWords,
  granteeOfLine,
  attempt,
  giveRole,
  takeRole,
} from './share.ts'
import { useState } from 'react'
import { Choice } from '../ui/Choice.tsx'
import { toast } from '../ui/toasts.ts'
import './GivenRole.css'

export function GivenRole({
  documentId,
  line,
  onChange,
}: {
  documentId: string
  line: DocumentRoleLine
  onChange: () => void
}) {
  const [sure, setSure] = useState(false)
  const { title, facts } = granteeWords(line)
  const grantee = granteeOfLine(line)
  const change = async (role: Role) => {
    if (await attempt(() => giveRole(documentId, grantee, role))) onChange()
  }
  const take = async () => {
    if (!(await attempt(() => takeRole(documentId, grantee)))) return
    toast(`This document is no longer shared with ${title}.`)
    onChange()
  }
  return (
    <li>
      <div>
        <b>{title}</b>
        <span className="quiet">{facts}</span>
      </div>
      {sure ? (
        <div className="are-you-sure" role="group" aria-label={`Stop sharing with ${title}?`}>
          <span>Stop sharing with {title}?</span>
          <button type="button" className="button is-danger" autoFocus onClick={() => void take()}>
            Stop sharing
          </button>
          <button type="button" className="button" onClick={() => setSure(false)}>
            Keep
          </button>
        </div>
      ) : (
        <div className="given-role">
          <Choice
            label={`Role of ${title}`}
            value={line.role}
            onChoose={(role) => void change(role)}
            options={DOCUMENT_ROLES}
          />
          <button
            type="button"
            className="button is-danger"
            aria-label={`Remove ${title}`}
            onClick={() => setSure(true)}
          >
            Remove
          </button>
        </div>
      )}
    </li>
  )
}
