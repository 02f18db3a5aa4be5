/** Sets or removes one spending limit. */
import { useId, useState } from 'react'
import type { MonthSpending, SetSpendingLimit } from '../wire/generated.ts'
import { attempt, setLimit } from './server.ts'
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
    <button
      type="button"
      className="button"
      aria-label={`${text} for ${whose}`}
      onClick={() => setOpen(true)}
    >
      {text}
    </button>
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
    const spending = await attempt(() => setLimit({ ...subject, usd }))
    if (!spending) return
    onSet(spending)
    onClose()
  }
  return (
    <form
      className="limit-form"
      aria-label={`Monthly limit of ${whose}`}
      onSubmit={(event) => {
        event.preventDefault()
        const usd = readLimit(text)
        setWrong(usd === undefined)
        if (usd !== undefined) void set(usd)
      }}
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
      <button type="submit" className="button is-primary">
        Save
      </button>
      {limit !== null && (
        <button type="button" className="button" onClick={() => void set(null)}>
          No limit
        </button>
      )}
      <button type="button" className="button is-quiet" onClick={onClose}>
        Cancel
      </button>
      {isWrong && (
        <p id={`${id}-wrong`} className="warn-note" role="alert">
          A limit is a number from 0 to 1,000,000, such as 20 or 2.50.
        </p>
      )}
    </form>
  )
}
