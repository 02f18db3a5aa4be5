/** A person changed the very words the AI wanted to replace: three texts, four ways on. */
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { askAgain } from '../../../chat/composer/ask.ts'
import { Icon } from '../../../ui/icons.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { acceptHunk, rejectHunk } from '../../actions/decide.ts'
import { baseText, currentText, proposedText } from '../../state/hunk.ts'
import { wordDiff } from '../../../text/wordDiff.ts'
import { usePanel } from '../../stores/panel.ts'
import { useChangedBy } from './useChangedBy.ts'
import './Conflict.css'

interface Props {
  hunk: Hunk
  number: number
  busy: boolean
  /** True if the person may put in words of their own. */
  types: boolean
  /** More ways on. */
  children?: React.ReactNode
}

export function Conflict({ hunk, number, busy, types, children }: Props) {
  const changedBy = useChangedBy(hunk)
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  if (!doc) return null
  const base = baseText(hunk, doc)
  const inserting = hunk.parts.every((part) => part.base === '')
  return (
    <>
      <p className="warn-note">
        {changedBy ?? 'The text here changed after the AI read it.'} Nothing is replaced unless you
        say so.
      </p>
      <dl className="sides">
        {!inserting && (
          <div>
            <dt>What the AI read</dt>
            <dd dir="auto">{base}</dd>
          </div>
        )}
        <div>
          <dt>The text now</dt>
          <Differs base={base} text={currentText(hunk, doc)} />
        </div>
        <div>
          <dt>The AI’s version</dt>
          <Differs base={base} text={proposedText(hunk, doc)} />
        </div>
      </dl>
      <div className="hunk-actions">
        <button
          type="button"
          data-decides=""
          className="button"
          disabled={busy}
          aria-label={`Keep the text, change ${number}`}
          onClick={() => void rejectHunk(hunk)}
        >
          Keep the text
        </button>
        <button
          type="button"
          data-decides=""
          className="button"
          disabled={busy}
          aria-label={`Use the AI’s, change ${number}`}
          onClick={() => void acceptHunk(hunk, types ? { text: proposedText(hunk, doc) } : {})}
        >
          Use the AI’s
        </button>
        {types && (
          <button
            type="button"
            className="button"
            disabled={busy}
            aria-label={`Edit change ${number}`}
            onClick={() => usePanel.setState({ editing: hunk.id, reasoning: null })}
          >
            Edit
          </button>
        )}
        <button
          type="button"
          className="button"
          disabled={busy}
          aria-label={`Ask again about change ${number}`}
          onClick={() => askAgain(hunk)}
        >
          Ask again
        </button>
        <button
          type="button"
          className="button is-quiet"
          disabled={busy}
          aria-label={`Keep the text, change ${number}, with a reason`}
          title="Keep the text, with a reason"
          onClick={() => usePanel.setState({ reasoning: hunk.id, editing: null })}
        >
          <Icon name="speech" size={14} />
        </button>
        {children}
      </div>
    </>
  )
}

/** A text with what differs from what the AI read. */
function Differs({ base, text }: { base: string; text: string }) {
  return (
    <dd dir="auto">
      {text === '' && base !== '' && 'Deleted '}
      {wordDiff(base, text).map((piece, index) => {
        if (piece.kind === 'same') return piece.text
        return piece.kind === 'gone' ? (
          <del key={index}>{piece.text}</del>
        ) : (
          <ins key={index}>{piece.text}</ins>
        )
      })}
    </dd>
  )
}
