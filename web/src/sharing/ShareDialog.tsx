/** Makes a link for a person, shows the people with one, takes it back. */
import { useEffect, useState } from 'react'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { Dialog } from '../ui/Dialog.tsx'
import type { TokenLine } from '../wire/generated.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { NameQuestion } from '../session/NameForm.tsx'
import { SharedWith } from './SharedWith.tsx'
import { lastHere, roleName, until, whoHasAccess } from './share.ts'
import { type Made, MakeLink } from './MakeLink.tsx'
import { NewLink } from './NewLink.tsx'
import { RevokeAccess } from './RevokeAccess.tsx'
import './ShareDialog.css'

interface Props {
  documentId: string | null
  onClose: () => void
}

export function ShareDialog({ documentId, onClose }: Props) {
  const [lines, setLines] = useState<TokenLine[] | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const peers = useOpenDocument((state) => state.peers)
  const here = new Set(documentId === null ? [] : peers.map(({ user }) => user))
  const load = () =>
    void attempt(wire.call('token:list', {})).then(
      (all) => all && setLines(whoHasAccess(all.tokens, documentId)),
    )
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
  const { name, role, documentId, expiresAt, current } = line
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
      {!current && (
        <RevokeAccess
          token={line}
          label={`Revoke the access of ${name}`}
          question={<>Remove {name}’s access now?</>}
          done={`${name} has no access any more.`}
          onGone={onGone}
        />
      )}
    </li>
  )
}
