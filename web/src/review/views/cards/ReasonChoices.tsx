/** Common reasons at hand, and the choice of decision that words go with. */
import { Button } from '../../../ui/Button.tsx'
import './ReasonChoices.css'

/** Common reasons, at hand. */
export const REASONS = [
  'Changes my meaning',
  'Keep my wording',
  'Wrong tone',
  'Not an error',
  'Too much at once',
]

export function Reasons({
  reasons,
  chosen,
  onChoose,
}: {
  reasons: readonly string[]
  chosen: readonly string[]
  onChoose: (chosen: readonly string[]) => void
}) {
  const flip = (reason: string) =>
    onChoose(
      chosen.includes(reason) ? chosen.filter((other) => other !== reason) : [...chosen, reason],
    )
  return (
    <div className="chips" role="group" aria-label="Reasons">
      {reasons.map((reason) => (
        <Button
          look="chip"
          key={reason}
          aria-pressed={chosen.includes(reason)}
          onClick={() => flip(reason)}
        >
          {reason}
        </Button>
      ))}
    </div>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  now: T
  choices: readonly (readonly [T, string])[]
  onChoose: (value: T) => void
  shown?: boolean
}

export function Choice<T extends string>({
  label,
  now,
  choices,
  onChoose,
  shown = false,
}: ChoiceProps<T>) {
  return (
    <fieldset className="choice">
      <legend className={shown ? undefined : 'hidden-label'}>{label}</legend>
      {choices.map(([value, words]) => (
        <label key={value} className={`chip ${value === now ? 'is-chosen' : ''}`}>
          <input
            type="radio"
            name={label}
            checked={value === now}
            onChange={() => onChoose(value)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  )
}
