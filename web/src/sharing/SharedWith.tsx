/** People and groups who sign in and have a role in a document: gives, changes and takes it. */
import { useEffect, useState } from 'react'
import { useCapability } from '../session/store.ts'
import { signInAddress } from '../session/identityProvider.ts'
import { Choice } from '../ui/Choice.tsx'
import type { DocumentRoleLine, LoginLine, Role } from '../wire/generated.ts'
import {
  attempt,
  DOCUMENT_ROLES,
  giveRole,
  type GranteeKind,
  granteeOf,
  granteeOfLine,
  listLogins,
  listRoles,
} from './share.ts'
import { GivenRole } from './GivenRole.tsx'
import './SharedWith.css'

const GRANTEES: readonly (readonly [GranteeKind, string])[] = [
  ['person', 'Person'],
  ['group', 'Group'],
]

/** Shown where people can sign in, or where a role was given. */
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
      <Choice label="Share with" value={kind} options={GRANTEES} onChoose={setKind} />
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
      <Choice
        label="Role in this document"
        value={role}
        onChoose={setRole}
        options={DOCUMENT_ROLES}
      />
      <button type="submit" className="button" disabled={busy || grantee === null}>
        Share
      </button>
    </form>
  )
}
