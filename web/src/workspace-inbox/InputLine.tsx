/** One field of the input of a call. */
import type { Field } from '../ui/visibleText.ts'
import { useFocusOnce } from '../ui/useFocusOnce.ts'
import './InputLine.css'

interface Props {
  field: Field
  first: boolean
  onChange: (text: string) => void
}

export function Line({ field: { name, kind, text }, first, onChange }: Props) {
  const flip = useFocusOnce<HTMLInputElement>(first)
  const area = useFocusOnce<HTMLTextAreaElement>(first)
  if (kind === 'switch') {
    return (
      <label className="inbox-switch">
        <input
          type="checkbox"
          ref={flip}
          checked={text === 'true'}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />{' '}
        {name}
      </label>
    )
  }
  const rows = Math.min(
    12,
    text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0),
  )
  return (
    <label className="inbox-field">
      <span>
        {name || 'input'}
        {kind === 'json' ? ' (JSON)' : ''}
      </span>
      <textarea
        className="field"
        rows={rows}
        ref={area}
        spellCheck={false}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}

/** Letters that fit on a line, about. */
export const COLUMNS = 64
