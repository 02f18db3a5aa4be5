/** Words that go with a decision: why something is rejected, or a note for the AI beside what is accepted; and what happens to the rest. */
import { useState } from 'react'
import type { ApprovalResponse } from '../wire/types.ts'
import { usePanel } from './panel.ts'
import type { Rest } from './responses.ts'
import { Told } from './Told.tsx'

/** Common reasons, at hand. */
const REASONS = ['Changes my meaning', 'Keep my wording', 'Wrong tone', 'Not an error', 'Too much at once']

/** One of the decisions the words can go with. */
export interface Way {
  verdict: 'accept' | 'reject'
  label: string
  /** The decision as it would be sent, and what can be said of it without the server. */
  draft: (words: string, rest: Rest) => ApprovalResponse
  told: (words: string) => string
  send: (words: string, rest: Rest) => Promise<boolean>
}

/** `others`: how many more changes wait in the same request. */
interface Props { ways: readonly [Way, ...Way[]]; others?: number; reasons?: readonly string[] }

export function ReasonForm({ ways, others = 0, reasons = REASONS }: Props) {
  const [verdict, setVerdict] = useState(ways[0].verdict)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [own, setOwn] = useState('')
  const [rest, setRest] = useState<Rest>(undefined)
  const way = ways.find((other) => other.verdict === verdict) ?? ways[0]
  const rejects = way.verdict === 'reject'
  const words = [...(rejects ? chosen : []), own.trim()].filter(Boolean).join('. ')
  const close = () => usePanel.setState({ reasoning: null })
  return (
    <form
      className="reason"
      onSubmit={(event) => {
        event.preventDefault()
        void way.send(words, rest).then((done) => done && close())
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') close()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
    >
      {ways.length > 1 && (
        <Choice label="Decision" now={verdict} onChoose={setVerdict} choices={ways.map((other) => [other.verdict, other.verdict === 'accept' ? 'Accept it' : 'Reject it'] as const)} />
      )}
      {rejects && <Reasons reasons={reasons} chosen={chosen} onChoose={setChosen} />}
      <textarea
        className="field" rows={2} autoFocus value={own} onInput={(event) => setOwn(event.currentTarget.value)}
        aria-label={rejects ? 'Reason in your own words' : 'Note for the AI'} placeholder={rejects ? 'Tell the AI why…' : 'Something the AI should know…'}
      />
      {others > 0 && (
        <Choice
          label={others === 1 ? 'The other change' : `The other ${others} changes`} now={rest ?? 'open'} onChoose={(value) => setRest(value === 'open' ? undefined : value)}
          choices={[['open', 'Leave open'], ['accept', 'Accept'], ['reject', 'Reject']] as const} shown
        />
      )}
      <Told response={way.draft(words, rest)} otherwise={way.told(words)} />
      <div className="hunk-actions">
        <button type="submit" className={`button ${rejects ? 'is-danger' : 'is-accept'}`}>{way.label}{rest && ` and ${rest} the rest`}</button>
        <button type="button" className="button is-quiet" onClick={close}>Cancel</button>
      </div>
    </form>
  )
}

function Reasons({ reasons, chosen, onChoose }: { reasons: readonly string[]; chosen: readonly string[]; onChoose: (chosen: readonly string[]) => void }) {
  const flip = (reason: string) => onChoose(chosen.includes(reason) ? chosen.filter((other) => other !== reason) : [...chosen, reason])
  return (
    <div className="chips" role="group" aria-label="Reasons">
      {reasons.map((reason) => (
        <button type="button" key={reason} className="chip" aria-pressed={chosen.includes(reason)} onClick={() => flip(reason)}>
          {reason}
        </button>
      ))}
    </div>
  )
}

interface ChoiceProps<T extends string> { label: string; now: T; choices: readonly (readonly [T, string])[]; onChoose: (value: T) => void; shown?: boolean }

function Choice<T extends string>({ label, now, choices, onChoose, shown = false }: ChoiceProps<T>) {
  return (
    <fieldset className="choice">
      <legend className={shown ? undefined : 'hidden-label'}>{label}</legend>
      {choices.map(([value, words]) => (
        <label key={value} className={`chip ${value === now ? 'is-chosen' : ''}`}>
          <input type="radio" name={label} checked={value === now} onChange={() => onChoose(value)} />
          {words}
        </label>
      ))}
    </fieldset>
  )
}
