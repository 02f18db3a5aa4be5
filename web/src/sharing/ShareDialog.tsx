/** Makes a link for a person, shows the people with one, takes it back. */
import { useEffect, useState } from 'react'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toasts.ts'
import type { TokenLine } from '../wire/generated.ts'
import { NameQuestion } from '../session/NameForm.tsx'
import { SharedWith } from './SharedWith.tsx'
import {
  attempt,
  lastHere,
  listTokens,
  revokeToken,
  roleName,
  until,
  whoHasAccess,
} from './share.ts'
import { type Made, MakeLink } from './MakeLink.tsx'
import { NewLink } from './NewLink.tsx'
import './ShareDialog.css'

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
