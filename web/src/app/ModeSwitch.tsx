/** The switch between editing, suggesting and reading; absent where there is nothing to choose. */
import { chooseMode, type Mode, modesOf, prefetchSuggesting } from '../document/modes.ts'
import { useOpenDocumentFields } from '../document/useOpenDocument.ts'
import './ModeSwitch.css'

const ALL: readonly (readonly [Mode, string])[] = [
  ['editing', 'Editing'],
  ['suggesting', 'Suggesting'],
  ['reading', 'Reading'],
]

export function ModeSwitch() {
  const { phase, role, mode } = useOpenDocumentFields('phase', 'role', 'mode')
  const modes = modesOf(role)
  if (phase !== 'open' || modes.length < 2) return null
  return (
    <select
      className={`mode-switch is-${mode}`}
      aria-label="Mode"
      title="Editing changes the text; suggesting leaves it to others to accept"
      value={mode}
      onFocus={prefetchSuggesting}
      onPointerEnter={prefetchSuggesting}
      onChange={(event) => {
        const { currentTarget } = event
        const chosen = currentTarget.value as Mode
        // It shows the mode that is, until there is another.
        currentTarget.value = mode
        void chooseMode(chosen)
      }}
    >
      {ALL.filter(([value]) => modes.includes(value)).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
}
