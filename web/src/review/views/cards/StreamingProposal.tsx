/** A change while the model writes it: what it has become so far, and a way to stop it. */
import { Button } from '../../../ui/Button.tsx'
import { Fragment } from 'react'
import { cancelRun } from '../../../chat/composer/ask.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { Icon } from '../../../ui/icons.tsx'
import { plural } from '../../../ui/timeFormat.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { Quotation } from './Quotation.tsx'
import { snippet } from '../../state/snippet.ts'
import type { StreamingProposalState } from '../../state/requests.ts'
import './StreamingProposal.css'

/** Rows that are shown; a long rewrite shows its latest. */
const MAX_ROWS = 5
const TAIL_CHARS = 220

/** Nothing in it is read out while it grows; the end is announced. */
export function StreamingProposal({
  writing,
  mine,
}: {
  writing: StreamingProposalState
  mine: boolean
}) {
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  const all = useReviewState(({ streaming }) => streaming)
  const hunks = all.filter((hunk) => hunk.request_id === writing.id)
  const rows = hunks.slice(-MAX_ROWS)
  const hidden = hunks.length - rows.length
  return (
    <div className="growing">
      <div className="dots">
        AI is writing…
        {writing.paragraphs > 0 && ` ${plural(writing.paragraphs, 'paragraph')} so far`}
      </div>
      {hunks.length > 0 && (
        <p className="growing-count">
          {plural(hunks.length, 'change')} so far{hidden > 0 && `, the latest ${rows.length}:`}
        </p>
      )}
      {doc && rows.length > 0 && (
        <ol aria-label="Changes so far">
          {rows.map((hunk, index) => (
            <li key={hunk.id} className="growing-row">
              <span aria-hidden="true">{hidden + index + 1}</span>
              <span className="words">
                <Quotation pieces={snippet(hunk, doc)} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {rows.length === 0 && (
        <p className="growing-text">
          {tail(writing.text).map((line, index) => (
            <Fragment key={index}>
              {index > 0 && <br />}
              {line}
            </Fragment>
          ))}
        </p>
      )}
      {mine && (
        <Button onClick={() => cancelRun(writing.run)}>
          <Icon name="stop" size={13} /> Stop
        </Button>
      )}
    </div>
  )
}

/** The last words of what is being written. */
function tail(text: string): string[] {
  const short = text.length <= TAIL_CHARS ? text : `…${text.slice(-TAIL_CHARS).toWellFormed()}`
  return short.trim().split('\n')
}
