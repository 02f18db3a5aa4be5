/** Facts about the token of a person. */
import type { TokenLine, DocumentLine } from '../wire/generated.ts'
import { RevokeAccess } from '../sharing/RevokeAccess.tsx'
import { roleName, until } from '../sharing/share.ts'
import { timeAgo } from '../ui/timeFormat.ts'

interface Props {
  token: TokenLine
  documents: readonly DocumentLine[]
  onGone: () => void
}

export function TokenFacts({ token, documents, onGone }: Props) {
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
  // The owner's own token is replaced, never revoked.
  const isLasting = current || id === 'tok_owner'
  return (
    <li>
      <span className="quiet">{facts.join(' · ')}</span>
      {!isLasting && (
        <RevokeAccess
          token={token}
          label={`Revoke the access of ${name} as ${roleName(role).toLowerCase()}`}
          done={`${name} can no longer use this access.`}
          onGone={onGone}
        />
      )}
    </li>
  )
}
