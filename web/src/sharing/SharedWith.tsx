/** People and groups who sign in and have a role in a document: gives, changes and takes it. */
import { useEffect, useState } from 'react'
import { useCapability } from '../session/store.ts'
import { signInAddress } from '../session/identityProvider.ts'
import { toast } from '../ui/toasts.ts'
import type { DocumentRoleLine, LoginLine, Role } from '../wire/generated.ts'
import {
  attempt,
  DOCUMENT_ROLES,
  giveRole,
  type GranteeKind,
  granteeOf,
  granteeOfLine,
  granteeWords,
  listLogins,
  listRoles,
  takeRole,
} from './share.ts'

/** Shown where people can sign in, or where somebody was given a role. */
export function SharedWith({ documentId }: { documentId: string }) {
  const isAble = useCapability('roles')
  const [lines, setLines] = useState<DocumentRoleLine[] | null>(null)
  const [logins, setLogins] = useState<LoginLine[]>([])
  const [offered, setOffered] = useState(false)
  const load = () => {
    if (!isAble) return
    void attempt(() => listRoles(documentId)).then((all) => all && setLines(all))
    void attempt(listLogins).then((all) => all && setLogins(all))
  }
  useEffect(load, [documentId, isAble])
  useEffect(() => void signInAddress().then((address) => setOffered(address !== null)), [])
  if (lines === null || (!offered && lines.length === 0)) return null
  return (
    <section className="access" aria-label="Shared with people who sign in">
      <h3>Shared with people who sign in</h3>
      <GiveRole documentId={documentId} logins={logins} onGiven={load} />
      <ul>
        {lines.map((line) => (
          <GivenRole
            key={JSON.stringify(granteeOfLine(line))}
            documentId={documentId}
            line={line}
            onChange={load}
          />
        ))}
      </ul>
    </section>
  )
}

function RoleChoice({
  label,
  value,
  onChoose,
}: {
  label: string
  value: Role
  onChoose: (role: Role) => void
}) {
  return (
    <select
      className="field"
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value as Role)}
    >
      {DOCUMENT_ROLES.map((other) => (
        <option key={other.role} value={other.role}>
          {other.name}
        </option>
      ))}
    </select>
  )
}

function GiveRole({
  documentId,
  logins,
  onGiven,
}: {
  documentId: string
  logins: readonly LoginLine[]
  onGiven: () => void
}) {
  const [kind, setKind] = useState<GranteeKind>('person')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const [busy, setBusy] = useState(false)
  const grantee = granteeOf(kind, name, logins)
  const known =
    kind === 'person'
      ? logins.map((login) => login.email ?? login.name)
      : logins.flatMap((login) => login.groups)
  const give = async () => {
    if (grantee === null) return
    setBusy(true)
    const given = await attempt(() => giveRole(documentId, grantee, role))
    setBusy(false)
    if (!given) return
    setName('')
    onGiven()
  }
  return (
    <form
      className="give-role"
      onSubmit={(event) => {
        event.preventDefault()
        void give()
      }}
    >
      <select
        className="field"
        aria-label="Share with"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value as GranteeKind)}
      >
        <option value="person">Person</option>
        <option value="group">Group</option>
      </select>
      <input
        className="field"
        aria-label={kind === 'person' ? 'Mail address' : 'Name of the group'}
        placeholder={kind === 'person' ? 'Mail address' : 'As your identity provider names it'}
        value={name}
        maxLength={254}
        autoComplete="off"
        list="share-known"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <datalist id="share-known">
        {[...new Set(known)].map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <RoleChoice label="Role in this document" value={role} onChoose={setRole} />
      <button type="submit" className="button" disabled={busy || grantee === null}>
        Share
      </button>
    </form>
  )
}

function GivenRole({
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
          <RoleChoice
            label={`Role of ${title}`}
            value={line.role}
            onChoose={(role) => void change(role)}
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
