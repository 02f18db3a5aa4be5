/** A role that was given in this document. */
import { Button } from '../ui/Button.tsx'
import type { Role, DocumentRoleLine } from '../wire/generated.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { DOCUMENT_ROLES, granteeOfLine, granteeWords } from './share.ts'
import { useState } from 'react'
import { AreYouSure } from '../ui/AreYouSure.tsx'
import { Choice } from '../ui/Choice.tsx'
import { toast } from '../ui/toasts.ts'
import './GivenRole.css'

interface Props {
  documentId: string
  line: DocumentRoleLine
  onChange: () => void
}

export function GivenRole({ documentId, line, onChange }: Props) {
  const [sure, setSure] = useState(false)
  const { title, facts } = granteeWords(line)
  const grantee = granteeOfLine(line)
  const change = async (role: Role) => {
    if (await attempt(wire.call('document:share', { documentId, role, ...grantee }))) onChange()
  }
  const take = async () => {
    if (!(await attempt(wire.call('document:unshare', { documentId, ...grantee })))) return
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
        <AreYouSure
          name={`Stop sharing with ${title}?`}
          question={`Stop sharing with ${title}?`}
          yes="Stop sharing"
          onYes={() => void take()}
          onKeep={() => setSure(false)}
        />
      ) : (
        <div className="given-role">
          <Choice
            label={`Role of ${title}`}
            value={line.role}
            onChoose={(role) => void change(role)}
            options={DOCUMENT_ROLES}
          />
          <Button look="danger" aria-label={`Remove ${title}`} onClick={() => setSure(true)}>
            Remove
          </Button>
        </div>
      )}
    </li>
  )
}
