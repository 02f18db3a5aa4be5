/** Takes the access of a token back, once an owner has said so twice. */
import { type ReactNode, useState } from 'react'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { AreYouSure } from '../ui/AreYouSure.tsx'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/toasts.ts'
import type { TokenLine } from '../wire/generated.ts'

interface Props {
  token: TokenLine
  /** The name of the button for screen readers. */
  label: string
  question?: ReactNode
  /** Said once it is done. */
  done: string
  onGone: () => void
}

export function RevokeAccess({ token: { id, name }, label, question, done, onGone }: Props) {
  const [sure, setSure] = useState(false)
  const revoke = async () => {
    if (!(await attempt(wire.call('token:revoke', { id })))) return
    toast(done)
    onGone()
  }
  if (!sure)
    return (
      <Button look="danger" aria-label={label} onClick={() => setSure(true)}>
        Revoke
      </Button>
    )
  return (
    <AreYouSure
      name={`Revoke the access of ${name}?`}
      question={question}
      yes="Revoke access"
      onYes={() => void revoke()}
      onKeep={() => setSure(false)}
    />
  )
}
