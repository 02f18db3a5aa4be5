/** The people with access, their spending, and the ways to end their access. */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { RevokeAccess } from '../sharing/RevokeAccess.tsx'
import { roleName, until } from '../sharing/share.ts'
import { timeAgo } from '../ui/timeFormat.ts'
import type { DocumentLine, MonthSpending, TokenLine } from '../wire/generated.ts'
import { DeletePersonDialog } from './DeletePersonDialog.tsx'
import { LimitButton } from './LimitForm.tsx'
import { callWords, type KnownPerson, spentOf } from './wording.ts'
import './PeopleSection.css'

interface Props {
  people: readonly KnownPerson[]
  documents: readonly DocumentLine[]
  spending: MonthSpending
  onSet: (spending: MonthSpending) => void
  onChange: () => void
}

export function PeopleSection({ people, ...rest }: Props) {
  const active = people.filter(({ isActive }) => isActive)
  const former = people.filter(({ isActive }) => !isActive)
  const line = (person: KnownPerson) => <PersonLine key={person.id} person={person} {...rest} />
  return (
    <section className="server-section" aria-labelledby="server-people">
      <h2 id="server-people">People</h2>
      <ul className="server-list" aria-label="People with access">
        {active.map(line)}
      </ul>
      {former.length > 0 && (
        <details>
          <summary>Without access ({former.length})</summary>
          <ul className="server-list" aria-label="People without access">
            {former.map(line)}
          </ul>
        </details>
      )}
    </section>
  )
}

function PersonLine({
  person,
  documents,
  spending,
  onSet,
  onChange,
}: Omit<Props, 'people'> & { person: KnownPerson }) {
  const { id, name, tokens, isActive, isCurrent, isDeleted } = person
  const [isLeaving, setLeaving] = useState(false)
  const line = spending.people.find((other) => other.id === id)
  const own = line?.limitUsd ?? null
  const usd = line?.usd ?? 0
  const calls = line ? ` · ${callWords(line)}` : ''
  return (
    <li>
      <span>
        <b>
          {name}
          {isCurrent && ' (you)'}
        </b>
        <span className="quiet">
          {spentOf(usd, own ?? spending.personLimitUsd)} this month{calls}
        </span>
      </span>
      <span className="person-actions">
        {isActive && (
          <LimitButton whose={name} subject={{ for: 'person', id }} limit={own} onSet={onSet} />
        )}
        {!isCurrent && !isDeleted && (
          <Button
            look="danger"
            aria-label={`Delete the data of ${name}`}
            onClick={() => setLeaving(true)}
          >
            Delete…
          </Button>
        )}
      </span>
      {isLeaving && (
        <DeletePersonDialog
          id={id}
          name={name}
          onClose={() => setLeaving(false)}
          onDeleted={onChange}
        />
      )}
      <ul className="token-list" aria-label={`Access of ${name}`}>
        {tokens
          .filter((token) => token.status === 'active')
          .map((token) => (
            <TokenFacts key={token.id} token={token} documents={documents} onGone={onChange} />
          ))}
      </ul>
    </li>
  )
}

interface TokenProps extends Pick<Props, 'documents'> {
  token: TokenLine
  onGone: () => void
}

/** Facts about the token of a person. */
function TokenFacts({ token, documents, onGone }: TokenProps) {
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
