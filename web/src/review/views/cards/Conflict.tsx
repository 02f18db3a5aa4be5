/** A person changed the very words the AI wanted to replace: three texts, four ways on. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { askAgain } from '../../../chat/composer/ask.ts'
import { Icon } from '../../../ui/icons.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { acceptHunk, rejectHunk } from '../../actions/decide.ts'
import { changedSince } from '../../state/changes.ts'
import { baseText, currentText, isByPerson, proposedText } from '../../state/hunk.ts'
import { wordDiff } from '../../../text/wordDiff.ts'
import { usePanel } from '../../stores/panel.ts'
import { useChangedBy } from './useChangedBy.ts'
import './Conflict.css'

/** A way on. */
interface Way {
  words: string
  /** Its name before "change 3", where that is not its words. */
  name?: string
  /** Set on what decides: pressed twice it decides once. */
  decides?: ''
  act: () => void
}

interface Props {
  hunk: Hunk
  number: number
  busy: boolean
  /** True if the person may put in words of their own. */
  types: boolean
  /** More ways on. */
  children?: React.ReactNode
}

const AIS = { read: 'What the AI read', proposed: 'The AI’s version', use: 'Use the AI’s' }
const PERSONS = { read: 'What stood there', proposed: 'The suggestion', use: 'Use it' }

export function Conflict({ hunk, number, busy, types, children }: Props) {
  const changedBy = useChangedBy(hunk)
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  if (!doc) return null
  const base = baseText(hunk, doc)
  const inserting = hunk.parts.every((part) => part.base === '')
  const proposed = types ? { text: proposedText(hunk, doc) } : {}
  const said = isByPerson(hunk) ? PERSONS : AIS
  const edit = () => usePanel.setState({ editing: hunk.id, reasoning: null })
  const ways: Way[] = [
    { words: 'Keep the text', decides: '', act: () => void rejectHunk(hunk) },
    { words: said.use, decides: '', act: () => void acceptHunk(hunk, proposed) },
    ...(types ? [{ words: 'Edit', name: 'Edit', act: edit }] : []),
    ...(isByPerson(hunk)
      ? []
      : [{ words: 'Ask again', name: 'Ask again about', act: () => askAgain(hunk) }]),
  ]
  return (
    <>
      <p className="warn-note">
        {changedBy ?? changedSince(hunk)} Nothing is replaced unless you say so.
      </p>
      <dl className="sides">
        {!inserting && (
          <div>
            <dt>{said.read}</dt>
            <dd dir="auto">{base}</dd>
          </div>
        )}
        <div>
          <dt>The text now</dt>
          <Differs base={base} text={currentText(hunk, doc)} />
        </div>
        <div>
          <dt>{said.proposed}</dt>
          <Differs base={base} text={proposedText(hunk, doc)} />
        </div>
      </dl>
      <div className="hunk-actions">
        {ways.map(({ words, name, decides, act }) => (
          <OnlineButton
            key={words}
            data-decides={decides}
            disabled={busy}
            aria-label={`${name ?? `${words},`} change ${number}`}
            onClick={act}
          >
            {words}
          </OnlineButton>
        ))}
        <OnlineButton
          look="quiet"
          disabled={busy}
          aria-label={`Keep the text, change ${number}, with a reason`}
          title="Keep the text, with a reason"
          onClick={() => usePanel.setState({ reasoning: hunk.id, editing: null })}
        >
          <Icon name="speech" size={14} />
        </OnlineButton>
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
