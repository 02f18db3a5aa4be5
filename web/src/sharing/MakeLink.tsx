/** A new link for another person: its rights, and the link once it is made. */
import type { Role } from '../wire/generated.ts'
import { useState } from 'react'
import { attempt, issueToken, linkOf, ROLES, EXPIRIES, CAN } from './share.ts'
import './MakeLink.css'

export interface Made {
  name: string
  role: Role
  link: string
  expiresAt: string | null | undefined
}

export function MakeLink({
  documentId,
  onMade,
}: {
  documentId: string | null
  onMade: (made: Made) => void
}) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const [everything, setEverything] = useState(documentId === null)
  const [expiresIn, setExpiresIn] = useState('7d')
  const [busy, setBusy] = useState(false)
  // A single document has no owner.
  const all = everything || role === 'owner'
  const make = async () => {
    setBusy(true)
    const issued = await attempt(() =>
      issueToken({
        role,
        name: name.trim(),
        expiresIn,
        ...(!all && documentId !== null && { documentId }),
      }),
    )
    setBusy(false)
    if (issued)
      onMade({
        name: name.trim(),
        role,
        link: linkOf(issued, window.location.origin, documentId),
        expiresAt: issued.expiresAt,
      })
  }
  return (
    <form
      className="make-link"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <label className="of-name">
        Name
        <input
          className="field"
          value={name}
          maxLength={80}
          required
          autoFocus
          autoComplete="off"
          placeholder="Who is it for?"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Role
        <select
          className="field"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        >
          {ROLES.map((other) => (
            <option key={other.role} value={other.role}>
              {other.name}
            </option>
          ))}
        </select>
      </label>
      {documentId !== null && (
        <label>
          Access to
          <select
            className="field"
            value={all ? 'all' : 'one'}
            disabled={role === 'owner'}
            onChange={(event) => setEverything(event.currentTarget.value === 'all')}
          >
            <option value="one">This document</option>
            <option value="all">All documents</option>
          </select>
        </label>
      )}
      <label>
        Expires
        <select
          className="field"
          value={expiresIn}
          onChange={(event) => setExpiresIn(event.currentTarget.value)}
        >
          {EXPIRIES.map((one) => (
            <option key={one.expiresIn} value={one.expiresIn}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <p className="quiet">
        Whoever opens the link {CAN[role]}
        {all ? ', in all documents' : ''}.
      </p>
      <button type="submit" className="button is-primary" disabled={busy || name.trim() === ''}>
        Create link
      </button>
    </form>
  )
}
