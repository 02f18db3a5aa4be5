/** Words that go with a decision: why something is rejected, or a note for the AI beside what is accepted. */
import { useState } from 'react'
import type { ApprovalResponse } from '../wire/types.ts'
import { usePanel } from './panel.ts'
import { Told } from './Told.tsx'

/** Common reasons, at hand. */
export const REASONS = ['Changes my meaning', 'Keep my wording', 'Wrong tone', 'Not an error', 'Too much at once']

interface Props {
  label: string
  look: 'is-danger' | 'is-accept'
  reasons: readonly string[]
  /** The decision as it would be sent, and what can be said of it without the server. */
  draft: (words: string) => ApprovalResponse
  told: (words: string) => string
  onSend: (words: string) => Promise<boolean>
}

export function ReasonForm({ label, look, reasons, draft, told, onSend }: Props) {
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [own, setOwn] = useState('')
  const words = [...chosen, own.trim()].filter(Boolean).join('. ')
  const close = () => usePanel.setState({ reasoning: null })
  const flip = (reason: string) => setChosen(chosen.includes(reason) ? chosen.filter((other) => other !== reason) : [...chosen, reason])
  return (
    <form
      className="reason"
      onSubmit={(event) => {
        event.preventDefault()
        void onSend(words).then((done) => done && close())
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') close()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      {reasons.length > 0 && (
        <div className="chips" role="group" aria-label="Reasons">
          {reasons.map((reason) => (
            <button type="button" key={reason} className="chip" aria-pressed={chosen.includes(reason)} onClick={() => flip(reason)}>
              {reason}
            </button>
          ))}
        </div>
      )}
      <textarea
        className="field" rows={2} autoFocus value={own} onInput={(event) => setOwn(event.currentTarget.value)}
        aria-label={reasons.length > 0 ? 'Reason in your own words' : 'Note for the AI'} placeholder={reasons.length > 0 ? 'Tell the AI why…' : 'Something the AI should know…'}
      />
      <Told response={draft(words)} otherwise={told(words)} />
      <div className="hunk-actions">
        <button type="submit" className={`button ${look}`}>{label}</button>
        <button type="button" className="button is-quiet" onClick={close}>Cancel</button>
      </div>
    </form>
  )
}
