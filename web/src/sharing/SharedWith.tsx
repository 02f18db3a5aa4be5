/** People and groups who sign in and have a role in a document: gives, changes and takes it. */
import { useEffect, useState } from 'react'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { attempt } from '../session/attempt.ts'
import { useCapability, useSession, wire } from '../session/store.ts'
import { signInAddress } from '../session/identityProvider.ts'
import { Choice } from '../ui/Choice.tsx'
import type { DocumentRoleLine, LoginLine, Role } from '../wire/generated.ts'
import { DOCUMENT_ROLES, type GranteeKind, granteeOf, granteeOfLine } from './share.ts'
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
    void attempt(wire.call('document:roles', { documentId })).then(
      (all) => all && setLines(all.roles),
    )
    void attempt(wire.call('token:list', {})).then((all) => all && setLogins(all.logins))
  }
  // What could not be loaded without a connection is loaded with the next one.
  const isOnline = useSession(({ link }) => link === 'online')
  useEffect(load, [documentId, isAble, isOnline])
  useEffect(() => void signInAddress().then((address) => setOffered(address !== null)), [isOnline])
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

interface Props {
  documentId: string
  logins: readonly LoginLine[]
  onGiven: () => void
}

function GiveRole({ documentId, logins, onGiven }: Props) {
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
    const given = await attempt(wire.call('document:share', { documentId, role, ...grantee }))
    setBusy(false)
    if (!given) return
    setName('')
    onGiven()
  }
  return (
    <Form className="give-role" onSubmit={() => void give()}>
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
      <Button type="submit" disabled={busy || grantee === null}>
        Share
      </Button>
    </Form>
  )
}
