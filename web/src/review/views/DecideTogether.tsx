/** Several changes of a kind: each is listed before one decision is made about all of them. */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import type { Hunk } from '../../wire/generated.ts'
import { useFocusOnce } from '../../ui/useFocusOnce.ts'
import { plural } from '../../ui/timeFormat.ts'
import { Quotation } from './cards/Quotation.tsx'
import { useReturnFocus } from '../hooks/keyboardFocus.ts'
import { snippet, withWords } from '../state/snippet.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useBusy } from '../stores/busy.ts'
import { decideTogether } from '../actions/decide.ts'
import { keptEdits } from '../stores/drafts.ts'
import { useKeptEdits } from '../stores/keptEdits.ts'
import { type Together, usePanel } from '../stores/panel.ts'
import { votedOf, votedCount } from '../state/votes.ts'
import { useReview } from '../stores/requests.ts'
import { votesFor } from '../stores/votes.ts'
import './DecideTogether.css'

export function DecideTogether() {
  const together = usePanel((panel) => panel.together)
  return together ? <List key={together.ids.join()} together={together} /> : null
}

function List({ together: { title, ids } }: { together: Together }) {
  const hunks = useReviewState(({ hunks }) => hunks)
  useReview((state) => state.requests)
  const section = useFocusOnce<HTMLElement>()
  const { leave, stay } = useReturnFocus()
  const busy = useBusy((state) => ids.some((id) => state.ids.has(id)))
  const offline = useSession((session) => session.link !== 'online')
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  // Changes that were decided or changed meanwhile are not in it any more.
  const listed = hunks.filter((hunk) => ids.includes(hunk.id) && hunk.status === 'pending')
  const isEdited = useKeptEdits()
  if (!doc) return null
  // As it is accepted here.
  const edited = (hunk: Hunk) =>
    isEdited.has(hunk.id) ? withWords(hunk, keptEdits()[hunk.id]!, doc) : hunk
  const close = () => {
    leave()
    usePanel.setState({ together: null })
  }
  const send = (choice: 'accept' | 'reject') => {
    leave()
    void decideTogether(listed, choice).then((done) => (done ? close() : stay()))
  }
  const those = plural(listed.length, 'change')
  const voted = votedCount(
    votedOf([{ hunks: listed.map((hunk) => ({ ...hunk, votes: [...votesFor(hunk)] })) }]),
  )
  return (
    <section
      className="card together"
      aria-label={title}
      ref={section}
      tabIndex={-1}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') close()
      }}
    >
      <div className="together-head">
        <h3>{title}</h3>
        <button
          type="button"
          className="icon-button"
          aria-label="Cancel"
          title="Cancel"
          onClick={close}
        >
          <Icon name="cross" />
        </button>
      </div>
      {listed.length === 0 ? (
        <p className="card-note">They are decided.</p>
      ) : (
        <ol aria-label={title} tabIndex={0}>
          {listed.map((hunk) => (
            <li key={hunk.id} className="words">
              <Quotation pieces={snippet(edited(hunk), doc)} />
              {isEdited.has(hunk.id) && <span className="badge is-calm">With your edit</span>}
            </li>
          ))}
        </ol>
      )}
      {voted !== '' && <p className="card-note">{voted}</p>}
      {listed.length > 0 && (
        <div className="hunk-actions">
          <button
            data-decides=""
            type="button"
            className="button is-accept"
            disabled={busy || offline}
            onClick={() => send('accept')}
          >
            Accept {those}
          </button>
          <button
            type="button"
            data-decides=""
            className="button"
            disabled={busy || offline}
            onClick={() => send('reject')}
          >
            Reject {those}
          </button>
        </div>
      )}
    </section>
  )
}
