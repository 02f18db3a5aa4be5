/**
 * The choice of the view of the text while changes wait: with its changes, as it would read, as it
 * is.
 */
import { openDocument } from '../../../document/openDocument.ts'
import { setTextView } from '../../text/reviewField.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import type { TextView } from '../../state/changes.ts'
import './TextViewChoice.css'

const VIEWS: readonly (readonly [TextView, string])[] = [
  ['markup', 'Markup'],
  ['proposed', 'Proposed'],
  ['original', 'Original'],
]

export function TextViewChoice() {
  const shown = useReviewState(({ shown }) => shown)
  return (
    <select
      className="text-view"
      aria-label="Show the text"
      title="Show the text with its changes, as proposed, or as it is"
      value={shown}
      onChange={({ currentTarget: { value } }) =>
        openDocument()?.view.dispatch({ effects: setTextView.of(value as TextView) })
      }
      onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
    >
      {VIEWS.map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  )
}
