/**
 * The choice of the view of the text while changes wait: with its changes, as it would read, as it
 * is.
 */
import { openDocument } from '../../../document/openDocument.ts'
import { Choice } from '../../../ui/Choice.tsx'
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
    <Choice
      className="text-view"
      label="Show the text"
      title="Show the text with its changes, as proposed, or as it is"
      value={shown}
      options={VIEWS}
      onChoose={(view) => openDocument()?.view.dispatch({ effects: setTextView.of(view) })}
      onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
    />
  )
}
