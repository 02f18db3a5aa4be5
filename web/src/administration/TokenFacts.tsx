/** Facts about the token of a person. */
import type { TokenLine, DocumentLine } from '../wire/generated.ts'
import { useState } from 'react'
import { roleName, until, revokeToken } from '../sharing/share.ts'
import { timeAgo } from '../ui/timeFormat.ts'
import { attempt } from './server.ts'
import { toast } from '../ui/toasts.ts'

export function TokenFacts({
  token,
  documents,
  onGone,
}: {
  token: TokenLine
  documents: readonly DocumentLine[]
  onGone: () => void
}) {
  const [sure, setSure] = useState(false)
  const { id, name, role, documentId, expiresAt, lastUsedAt, current } = token
  const place =
    documentId === null
      ? role === 'guest'
        ? 'what is shared with them'
        : 'all documents'
      : (documents.find((other) => other.id === documentId)?.title ?? 'one document')
  const facts = [
    roleName(role),
    place,
    until(expiresAt, Date.now()),
    lastUsedAt === null ? 'not opened yet' : `last seen ${timeAgo(lastUsedAt, Date.now())}`,
  ]
  const revoke = async () => {
    if (!(await attempt(() => revokeToken(id)))) return
    toast(`${name} can no longer use this access.`)
    onGone()
  }
  // The owner's own token is replaced, never revoked.
  const isLasting = current || id === 'tok_owner'
  return (
    <li>
      <span className="quiet">{facts.join(' · ')}</span>
      {!isLasting && !sure && (
        <button
          type="button"
          className="button is-danger"
          aria-label={`Revoke the access of ${name} as ${roleName(role).toLowerCase()}`}
          onClick={() => setSure(true)}
        >
          Revoke
        </button>
      )}
      {sure && (
        <span className="are-you-sure" role="group" aria-label={`Revoke the access of ${name}?`}>
          <button
            type="button"
            className="button is-danger"
            autoFocus
            onClick={() => void revoke()}
          >
            Revoke access
          </button>
          <button type="button" className="button" onClick={() => setSure(false)}>
            Keep
          </button>
        </span>
      )}
    </li>
  )
}
