/** Makes a link for somebody, shows who has one, takes it back. */
import { useEffect, useState } from 'react'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toasts.ts'
import type { Role, TokenLine } from '../wire/generated.ts'
import { NameQuestion } from '../session/NameForm.tsx'
import { SharedWith } from './SharedWith.tsx'
import {
  attempt,
  EXPIRIES,
  isLocal,
  lastHere,
  issueToken,
  linkOf,
  listTokens,
  CAN,
  revokeToken,
  roleName,
  ROLES,
  until,
  whoHasAccess,
} from './share.ts'

interface Made {
  name: string
  role: Role
  link: string
  expiresAt: string | null | undefined
}

export function ShareDialog({
  documentId,
  onClose,
}: {
  documentId: string | null
  onClose: () => void
}) {
  const [lines, setLines] = useState<TokenLine[] | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const peers = useOpenDocument((state) => state.peers)
  const here = new Set(documentId === null ? [] : peers.map(({ user }) => user))
  const load = () =>
    void attempt(listTokens).then((all) => all && setLines(whoHasAccess(all, documentId)))
  useEffect(load, [documentId])
  const done = (link: Made) => {
    setMade(link)
    load()
  }
  return (
    <Dialog title="Share" onClose={onClose}>
      <NameQuestion />
      {made ? (
        <NewLink made={made} onAnother={() => setMade(null)} />
      ) : (
        <MakeLink documentId={documentId} onMade={done} />
      )}
      {documentId !== null && <SharedWith documentId={documentId} />}
      <section className="access" aria-label="People with access">
        <h3>People with access</h3>
        {lines === null ? (
          <p className="quiet" role="status">
            Looking…
          </p>
        ) : (
          <ul>
            {lines.map((line) => (
              <Holder key={line.id} line={line} here={here} onGone={load} />
            ))}
          </ul>
        )}
      </section>
    </Dialog>
  )
}

function MakeLink({
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
  // Nobody owns a single document.
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

function NewLink({ made, onAnother }: { made: Made; onAnother: () => void }) {
  const { name, role, link, expiresAt } = made
  return (
    <div className="new-link">
      <label htmlFor="share-link">
        Link for {name}: {roleName(role).toLowerCase()}, {until(expiresAt, Date.now())}
      </label>
      <div className="link-line">
        <input
          id="share-link"
          className="field"
          readOnly
          autoFocus
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" className="button is-primary" onClick={() => void copyText(link)}>
          Copy
        </button>
      </div>
      <p className="warn-note" role="status">
        Copy it now; you won’t see it again. Anyone who opens it acts as {name}.
      </p>
      {isLocal(window.location.hostname) && (
        <p className="quiet">
          It opens on this computer only: this page is reached at {window.location.host}.
        </p>
      )}
      <button type="button" className="button" onClick={onAnother}>
        Create another link
      </button>
    </div>
  )
}

interface HolderProps {
  line: TokenLine
  /** The people in the document now. */
  here: ReadonlySet<string>
  onGone: () => void
}

function Holder({ line, here, onGone }: HolderProps) {
  const [sure, setSure] = useState(false)
  const { name, role, documentId, expiresAt, current } = line
  const revoke = async () => {
    if (!(await attempt(() => revokeToken(line.id)))) return
    toast(`${name} has no access any more.`)
    onGone()
  }
  const facts = [
    roleName(role),
    role === 'guest'
      ? 'what is shared with them'
      : documentId == null
        ? 'all documents'
        : 'this document',
    until(expiresAt, Date.now()),
    lastHere(line, here, Date.now()),
  ]
  return (
    <li>
      <div>
        <b>
          {name}
          {current && ' (you)'}
        </b>
        <span className="quiet">{facts.join(' · ')}</span>
      </div>
      {!current && !sure && (
        <button
          type="button"
          className="button is-danger"
          aria-label={`Revoke the access of ${name}`}
          onClick={() => setSure(true)}
        >
          Revoke
        </button>
      )}
      {sure && (
        <div className="are-you-sure" role="group" aria-label={`Revoke the access of ${name}?`}>
          <span>Remove {name}’s access now?</span>
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
        </div>
      )}
    </li>
  )
}
