/**
 * The text now and as proposed, side by side: for a request, or for the paragraph of one of its
 * changes.
 */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { plural } from '../../ui/timeFormat.ts'
import { inParagraph } from '../state/similar.ts'
import { type Comparison, usePanel } from '../stores/panel.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { type Pair, type ComparedText, shortened, sideBySide } from '../state/sideBySide.ts'
import { Meaning } from './cards/Meaning.tsx'
import './CompareDialog.css'

const PARAGRAPHS_AROUND = 1

export function CompareDialog({ of }: { of: Comparison }) {
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  const all = useReviewState(({ hunks }) => hunks)
  if (!doc) return null
  const request = all.filter((hunk) => hunk.request_id === of.request)
  const one = request.find(({ id }) => id === of.paragraphOf)
  const hunks = of.paragraphOf === null ? request : one ? inParagraph(request, one, doc) : []
  const conflicts = hunks.filter(({ status }) => status === 'conflict').length
  const shown = shortened(sideBySide(doc, hunks), of.paragraphOf === null ? PARAGRAPHS_AROUND : 0)
  const differs = shown.some((pair) => !('skipped' in pair) && pair.changed)
  return (
    <Dialog
      title={of.paragraphOf === null ? 'Side by side' : 'The paragraph, side by side'}
      className="compare"
      onClose={() => usePanel.setState({ comparing: null })}
    >
      {conflicts > 0 && (
        <p className="warn-note">
          {plural(conflicts, 'change')} whose text changed {conflicts === 1 ? 'is' : 'are'} not
          marked here.
        </p>
      )}
      {differs ? (
        <div
          className="compare-body"
          role="region"
          aria-label="Original and proposed text"
          tabIndex={0}
        >
          {/* The roles stay when a phone puts the columns below each other. */}
          <table role="table">
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  Original
                </th>
                <th role="columnheader" scope="col">
                  Proposed
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {shown.map((pair, index) =>
                'skipped' in pair ? (
                  of.paragraphOf === null && <Gap key={index} count={pair.skipped} />
                ) : (
                  <ParagraphPair key={index} pair={pair} />
                ),
              )}
            </tbody>
          </table>
        </div>
      ) : (
        <p role="status">There is nothing to compare any more: these changes are decided.</p>
      )}
    </Dialog>
  )
}

function Gap({ count }: { count: number }) {
  return (
    <tr role="row" className="compare-gap">
      <td role="cell" colSpan={2}>
        {count === 1 ? '1 unchanged paragraph' : `${count} unchanged paragraphs`}
      </td>
    </tr>
  )
}

function ParagraphPair({ pair: { original, proposed, changed, marked } }: { pair: Pair }) {
  return (
    <tr role="row" className={changed ? 'is-changed' : undefined}>
      <td role="cell" dir="auto">
        <Words label="Original" pieces={original} none="Not there yet" />
      </td>
      <td role="cell" dir="auto">
        <Words label="Proposed" pieces={proposed} none="Deleted" />
        {marked.map((hunk) => (
          <Meaning key={hunk.id} hunk={hunk} />
        ))}
      </td>
    </tr>
  )
}

interface WordsProps {
  label: string
  pieces: readonly ComparedText[]
  /** Shown where there are no words. */
  none: string
}

function Words({ label, pieces, none }: WordsProps) {
  return (
    <>
      <span className="compare-side" aria-hidden="true">
        {label}
      </span>
      {pieces.length === 0 && <span className="compare-none">{none}</span>}
      {pieces.map(({ kind, text }, index) => {
        if (kind === 'same') return text
        const marked = text.replaceAll('\n', '¶\n')
        return kind === 'gone' ? <del key={index}>{marked}</del> : <ins key={index}>{marked}</ins>
      })}
    </>
  )
}
