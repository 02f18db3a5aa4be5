/** Several changes of a kind: each is listed before one decision is made about all of them. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import type { Hunk } from '../../wire/generated.ts'
import { plural } from '../../ui/timeFormat.ts'
import { Meaning } from './cards/Meaning.tsx'
import { Quotation } from './cards/Quotation.tsx'
import { useReturnFocus } from '../hooks/keyboardFocus.ts'
import { snippet, withWords } from '../state/snippet.ts'
import { useReviewState } from '../hooks/useReviewState.ts'
import { useBusy } from '../stores/busy.ts'
import { decideTogether } from '../actions/decide.ts'
import { isMarked } from '../state/marks.ts'
import { hasSameWords } from '../state/similar.ts'
import { mayDecide, neededFor } from '../state/permissions.ts'
import { keptEdits } from '../stores/drafts.ts'
import { useKeptEdits } from '../stores/keptEdits.ts'
import { type Together, usePanel } from '../stores/panel.ts'
import { useReviewer } from '../stores/reviewer.ts'
import { votedOf, votedCount } from '../state/votes.ts'
import { useRequests } from '../stores/requests.ts'
import { votesFor } from '../stores/votes.ts'
import './DecideTogether.css'

export function DecideTogether({ of }: { of: Together }) {
  const { title, hunks, keepsMeaning = false } = of
  const { leave, stay } = useReturnFocus()
  const busy = useBusy((state) => hunks.some(({ id }) => state.ids.has(id)))
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  const isEdited = useKeptEdits()
  const listed = useListed(of, isEdited)
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
  const common = { 'data-decides': '', disabled: busy }
  const those = plural(listed.length, 'change')
  const foot = listed.length > 0 && (
    <>
      <OnlineButton look="accept" {...common} onClick={() => send('accept')}>
        Accept {those}
      </OnlineButton>
      {!keepsMeaning && (
        <OnlineButton {...common} onClick={() => send('reject')}>
          Reject {those}
        </OnlineButton>
      )}
    </>
  )
  const votes = listed.map((hunk) => ({ ...hunk, votes: [...votesFor(hunk)] }))
  const notes = [
    keepsMeaning && 'Found no number, date, name, “not” or the like that differs in these.',
    votedCount(votedOf([{ hunks: votes }])),
  ].filter(Boolean)
  return (
    <Dialog title={title} className="together" onClose={close} foot={foot}>
      {notes.length > 0 && <p className="card-note">{notes.join(' ')}</p>}
      <p className="card-note" role="status">
        {!busy && leftOut(hunks.length - listed.length, listed.length)}
      </p>
      {listed.length > 0 && (
        <ol aria-label={title} tabIndex={0}>
          {listed.map((hunk) => (
            <li key={hunk.id} className="words" dir="auto">
              <Quotation pieces={snippet(edited(hunk), doc)} />
              {isEdited.has(hunk.id) && <span className="badge is-calm">With your edit</span>}
              <Meaning hunk={hunk} />
            </li>
          ))}
        </ol>
      )}
    </Dialog>
  )
}

/** Changes that were decided, or changed meanwhile, are not in it any more. */
function useListed({ hunks, keepsMeaning }: Together, isEdited: ReadonlySet<string>): Hunk[] {
  const open = useReviewState((review) => review.hunks)
  const requests = useRequests((state) => state.requests)
  const reviewer = useReviewer()
  const isListed = (hunk: Hunk | undefined, shown: Hunk): hunk is Hunk => {
    const request = hunk && requests[hunk.request_id]
    if (!request || hunk.status !== 'pending' || !hasSameWords(hunk, shown)) return false
    if (keepsMeaning && (isMarked(hunk) || isEdited.has(hunk.id))) return false
    return mayDecide(neededFor(request, hunk), reviewer)
  }
  const now = new Map(open.map((hunk) => [hunk.id, hunk]))
  return hunks.flatMap((shown) => {
    const hunk = now.get(shown.id)
    return isListed(hunk, shown) ? [hunk] : []
  })
}

function leftOut(out: number, left: number): string {
  if (out === 0) return ''
  if (left === 0) return 'They are decided.'
  return out === 1
    ? '1 is left out: it was changed or decided meanwhile.'
    : `${out} are left out: they were changed or decided meanwhile.`
}
