/** A new link for another person: its rights, and the link once it is made. */
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import type { Role } from '../wire/generated.ts'
import { useState } from 'react'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { linkOf, ROLES, EXPIRIES, CAN, REACHES } from './share.ts'
import { Choice } from '../ui/Choice.tsx'
import './MakeLink.css'

export interface Made {
  name: string
  role: Role
  link: string
  expiresAt: string | null | undefined
}

interface Props {
  documentId: string | null
  onMade: (made: Made) => void
}

export function MakeLink({ documentId, onMade }: Props) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const [everything, setEverything] = useState(documentId === null)
  const [expiresIn, setExpiresIn] = useState('7d')
  const [busy, setBusy] = useState(false)
  // A single document has no owner.
  const all = everything || role === 'owner'
  const make = async () => {
    setBusy(true)
    const issued = await attempt(
      wire.call('token:issue', {
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
    <Form className="make-link" onSubmit={() => void make()}>
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
        <Choice value={role} options={ROLES} onChoose={setRole} />
      </label>
      {documentId !== null && (
        <label>
          Access to
          <Choice
            value={all ? 'all' : 'one'}
            options={REACHES}
            disabled={role === 'owner'}
            onChoose={(reach) => setEverything(reach === 'all')}
          />
        </label>
      )}
      <label>
        Expires
        <Choice value={expiresIn} options={EXPIRIES} onChoose={setExpiresIn} />
      </label>
      <p className="quiet">
        Whoever opens the link {CAN[role]}
        {all ? ', in all documents' : ''}.
      </p>
      <Button look="primary" type="submit" disabled={busy || name.trim() === ''}>
        Create link
      </Button>
    </Form>
  )
}
