/**
 * Words that go with a decision: why something is rejected, a note for the AI beside what is
 * accepted, or an answer instead; and what happens to the rest.
 */
import { Button } from '../../../ui/Button.tsx'
import { useState } from 'react'
import { useFocusOnce } from '../../../ui/useFocusOnce.ts'
import { type DraftStore, useDraft, useDrafts } from '../../stores/drafts.ts'
import { useRequests } from '../../stores/requests.ts'
import { usePanel } from '../../stores/panel.ts'
import { useReturnFocus } from '../../hooks/keyboardFocus.ts'
import type { RestDecision } from '../../state/responses.ts'
import { ModelFeedback } from './ModelFeedback.tsx'
import type { DecisionForm } from '../../state/decisionForms.ts'
import { REASONS, Choice, Reasons } from './ReasonChoices.tsx'
import './ReasonForm.css'

const FIELDS: Record<DecisionForm['verdict'], { label: string; placeholder: string }> = {
  accept: { label: 'Note for the AI', placeholder: 'Something the AI should know…' },
  reject: { label: 'Reason in your own words', placeholder: 'Tell the AI why…' },
  answer: { label: 'Answer to the AI', placeholder: 'What the AI is told instead…' },
}

/** A suggestion of a person. */
const PERSONS: typeof FIELDS = {
  ...FIELDS,
  accept: { label: 'Note', placeholder: 'Something they should know…' },
  reject: { label: 'Reason in your own words', placeholder: 'Tell them why…' },
}

interface Props {
  forms: readonly [DecisionForm, ...DecisionForm[]]
  /** Under which name the words are kept until they are sent, and where. */
  keptAs: string
  store?: DraftStore
  /** Number of further changes that wait in the same request. */
  others?: number
  reasons?: readonly string[]
  onClose?: () => void
}

const closePanel = () => usePanel.setState({ reasoning: null })

export function ReasonForm({
  forms,
  keptAs,
  store = useDrafts,
  others = 0,
  reasons = REASONS,
  onClose = closePanel,
}: Props) {
  const [verdict, setVerdict] = useState(forms[0].verdict)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [own = '', setOwn] = useDraft(keptAs, store)
  const [rest, setRest] = useState<RestDecision>(undefined)
  const { leave, stay } = useReturnFocus()
  const field = useFocusOnce<HTMLTextAreaElement>()
  const form = forms.find((other) => other.verdict === verdict) ?? forms[0]
  const source = useRequests(
    ({ requests }) => requests[form.draft('', undefined).request_id]?.source,
  )
  const said = (source === 'person' ? PERSONS : FIELDS)[form.verdict]
  const rejects = form.verdict === 'reject'
  const words = [...(rejects ? chosen : []), own.trim()].filter(Boolean).join('. ')
  const lacking = form.verdict === 'answer' && words === ''
  const forget = () => {
    leave()
    setOwn(null)
    onClose()
  }
  return (
    <form
      className="reason"
      onSubmit={(event) => {
        event.preventDefault()
        if (lacking) return
        leave()
        void form.send(words, rest).then((done) => (done ? forget() : stay()))
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') {
          // What is open around it stays open; the words are there when one comes back.
          event.preventDefault()
          leave()
          onClose()
        }
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
          event.currentTarget.requestSubmit()
      }}
    >
      {forms.length > 1 && (
        <Choice
          label="Decision"
          now={verdict}
          onChoose={setVerdict}
          choices={forms.map(
            (other) =>
              [other.verdict, other.verdict === 'accept' ? 'Accept it' : 'Reject it'] as const,
          )}
        />
      )}
      {rejects && <Reasons reasons={reasons} chosen={chosen} onChoose={setChosen} />}
      <textarea
        className="field"
        rows={2}
        ref={field}
        value={own}
        onInput={(event) => setOwn(event.currentTarget.value || null)}
        aria-label={said.label}
        placeholder={said.placeholder}
      />
      {others > 0 && (
        <Choice
          label={others === 1 ? 'The other change' : `The other ${others} changes`}
          now={rest ?? 'open'}
          onChoose={(value) => setRest(value === 'open' ? undefined : value)}
          choices={
            [
              ['open', 'Leave open'],
              ['accept', 'Accept'],
              ['reject', 'Reject'],
            ] as const
          }
          shown
        />
      )}
      {!lacking && (
        <ModelFeedback response={form.draft(words, rest)} otherwise={form.feedback(words)} />
      )}
      <div className="hunk-actions">
        <Button
          type="submit"
          data-decides=""
          look={rejects ? 'danger' : form.verdict === 'accept' ? 'accept' : 'primary'}
          disabled={lacking}
          aria-label={form.name}
        >
          {form.label}
          {rest && ` and ${rest} the rest`}
        </Button>
        <Button look="quiet" onClick={forget}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
