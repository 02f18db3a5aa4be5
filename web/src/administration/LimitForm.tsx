/** Sets or removes one spending limit. */
import { useId, useState } from 'react'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import type { MonthSpending, SetSpendingLimit } from '../wire/generated.ts'
import { dollars, readLimit } from './wording.ts'
import './LimitForm.css'

interface Props {
  /** Owner of the limit: "Ana", "the whole server". */
  whose: string
  subject: Pick<SetSpendingLimit, 'for' | 'id'>
  limit: number | null
  onSet: (spending: MonthSpending) => void
}

export function LimitButton(props: Props) {
  const [open, setOpen] = useState(false)
  if (open) return <LimitForm {...props} onClose={() => setOpen(false)} />
  const { whose, limit } = props
  const text = limit === null ? 'Set a limit' : `Limit ${dollars(limit)}`
  return (
    <Button aria-label={`${text} for ${whose}`} onClick={() => setOpen(true)}>
      {text}
    </Button>
  )
}

export function LimitForm({
  whose,
  subject,
  limit,
  onSet,
  onClose,
}: Props & { onClose: () => void }) {
  const [text, setText] = useState(limit === null ? '' : String(limit))
  const [isWrong, setWrong] = useState(false)
  const id = useId()
  const set = async (usd: number | null) => {
    const spending = await attempt(wire.call('spending:limit', { ...subject, usd }))
    if (!spending) return
    onSet(spending)
    onClose()
  }
  const save = () => {
    const usd = readLimit(text)
    setWrong(usd === undefined)
    if (usd !== undefined) void set(usd)
  }
  return (
    <Form
      className="limit-form"
      aria-label={`Monthly limit of ${whose}`}
      onSubmit={save}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <label htmlFor={id}>Dollars a month</label>
      <input
        id={id}
        className="field"
        inputMode="decimal"
        autoComplete="off"
        autoFocus
        value={text}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? `${id}-wrong` : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button look="primary" type="submit">
        Save
      </Button>
      {limit !== null && <Button onClick={() => void set(null)}>No limit</Button>}
      <Button look="quiet" onClick={onClose}>
        Cancel
      </Button>
      {isWrong && (
        <p id={`${id}-wrong`} className="warn-note" role="alert">
          A limit is a number from 0 to 1,000,000, such as 20 or 2.50.
        </p>
      )}
    </Form>
  )
}
