/** One change in the panel: quoted, numbered, and with its buttons while it is the active one. */
import type { EditorView } from '@codemirror/view'
import { memo, useEffect } from 'react'
import { openDocument } from '../../../document/openDocument.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { hunkTouchesFrozen } from '../../../frozen/field.ts'
import { useSession } from '../../../session/store.ts'
import { Icon } from '../../../ui/icons.tsx'
import type { ToolApprovalRequest, Hunk } from '../../../wire/generated.ts'
import { Conflict } from './Conflict.tsx'
import { useBusy } from '../../stores/busy.ts'
import { acceptHunk, rejectHunk, splitHunk } from '../../actions/decide.ts'
import { keptEdits } from '../../stores/drafts.ts'
import { useHasKeptEdit } from '../../stores/keptEdits.ts'
import { canSplit, isMoved } from '../../state/hunk.ts'
import { activate, showRow } from '../../text/inView.ts'
import { acceptActive, editActive, rejectActive } from '../../actions/keyBindings.ts'
import { hunksOf } from '../../text/reviewField.ts'
import { alike, inParagraph } from '../../state/similar.ts'
import { usePanel } from '../../stores/panel.ts'
import { Quotation } from './Quotation.tsx'
import { ReasonForm } from './ReasonForm.tsx'
import { type HunkSummary, EDIT_IS_KEPT } from '../../state/hunkSummaries.ts'
import { acceptance, rejection } from '../../state/responses.ts'
import { wordChange } from '../../state/snippet.ts'
import { tally } from '../../state/requests.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { useApproved } from '../../hooks/useApproved.ts'
import { feedbackOnAcceptOne, feedbackOnRejectOne } from '../../state/modelFeedback.ts'
import { mayType } from '../../state/permissions.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { draftOf } from '../../state/drafts.ts'
import type { DecisionForm } from '../../state/decisionForms.ts'

interface RowProps {
  row: HunkSummary
  active: boolean
  /** What is shown of the active change only. */
  children?: React.ReactNode
}

/**
 * Drawn anew only when it shows something else: there may be hundreds. Its number is written by
 * {@link writeNumbers}.
 */
export const HunkRow = memo(function HunkRow({ row, active, children }: RowProps) {
  const { id, isConflict, isMoved, isEdited, approvedBy } = row
  return (
    <li className={`hunk-row ${active ? 'is-active' : ''}`} data-row={id}>
      <button
        type="button"
        className="hunk-open"
        aria-current={active ? 'true' : undefined}
        onClick={() => show(id)}
      >
        <span aria-hidden="true" data-number="" />
        <span className="hidden-label">
          Change <span data-number="" />. {row.label}
        </span>
        <span className="words" dir="auto" aria-hidden="true">
          <Quotation pieces={row.pieces} />
          {isConflict && !active && <span className="badge">Text changed</span>}
          {isMoved && !active && <span className="badge is-calm">Moved</span>}
          {isEdited && <span className="badge is-calm">{EDIT_IS_KEPT}</span>}
          {approvedBy !== '' && !active && <span className="badge is-calm">{approvedBy}</span>}
        </span>
      </button>
      {children}
    </li>
  )
})

/** Writes the numbers of the rows: one change less would else draw all rows behind it anew. */
export function writeNumbers(list: HTMLElement, numberOf: (id: string) => number): void {
  for (const row of list.querySelectorAll<HTMLElement>('[data-row]')) {
    const number = String(numberOf(row.dataset.row!))
    for (const place of row.querySelectorAll('[data-number]'))
      if (place.textContent !== number) place.textContent = number
  }
}

/** Goes to a change where it is now. */
function show(id: string): void {
  const view = openDocument()?.view
  const hunk = view && hunksOf(view.state).find((other) => other.id === id)
  if (hunk) activate(view, hunk)
}

interface Props {
  hunk: Hunk
  number: number
  total: number
  mayDecide: boolean
  request: ToolApprovalRequest
}

/** What can be known of the active change, and done about it. */
export function HunkBody({ hunk, number, total, mayDecide, request }: Props) {
  const writing = usePanel((panel) => panel.editing === hunk.id || panel.reasoning === hunk.id)
  useEffect(() => {
    showRow(hunk.id)
  }, [hunk.id, writing])
  const approved = useApproved(hunk, request)
  const isFrozen = useOpenDocument(({ snapshot }) => snapshot && hunkTouchesFrozen(snapshot, hunk))
  return (
    <div className="hunk-body">
      {isFrozen && (
        <p className="warn-note">
          Some of these words are frozen: the AI can’t change them, so this cannot be accepted. An
          owner can unfreeze them.
        </p>
      )}
      {approved.words !== '' && <p className="card-note">{approved.words}</p>}
      {hunk.explanation && (
        <p className="hunk-why" dir="auto">
          {hunk.explanation}
        </p>
      )}
      {mayDecide ? (
        <Choices hunk={hunk} number={number} total={total} request={request} />
      ) : (
        <Compare hunk={hunk} number={number} />
      )}
    </div>
  )
}

function Choices({ hunk, number, total, request }: Omit<Props, 'mayDecide'>) {
  const { editing, reasoning } = usePanel()
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  const types = mayType(useReviewer())
  if (types && editing === hunk.id)
    return <p className="card-note">You are editing this in the text.</p>
  if (reasoning === hunk.id)
    return (
      <ReasonForm
        forms={decisionForms(hunk, number, request)}
        keptAs={draftOf(hunk.id, 'reason')}
        others={tally(request.hunks).open - 1}
      />
    )
  const split = <Split hunk={hunk} number={number} total={total} off={busy || offline} />
  if (hunk.status === 'conflict')
    return (
      <Conflict hunk={hunk} number={number} busy={busy || offline} types={types}>
        {split}
      </Conflict>
    )
  return (
    <div className="hunk-actions">
      {/* Elsewhere the bar has these; here the panel lies over it. */}
      <SheetButtons hunk={hunk} number={number} total={total} off={busy || offline} types={types} />
      <button
        type="button"
        className="button is-quiet"
        disabled={busy || offline}
        aria-label={`Add a reason for change ${number} of ${total}`}
        title="With a reason or a note"
        onClick={() => usePanel.setState({ reasoning: hunk.id, editing: null })}
      >
        <Icon name="speech" size={14} /> Add a reason
      </button>
      {split}
      <Compare hunk={hunk} number={number} />
      <Size hunk={hunk} />
      <Together hunk={hunk} />
    </div>
  )
}

interface SplitProps {
  hunk: Hunk
  number: number
  total: number
  off: boolean
}

/** The paragraph of the change, as it is and as it would be. */
function Compare({ hunk, number }: { hunk: Hunk; number: number }) {
  return (
    <button
      type="button"
      className="button is-quiet"
      aria-label={`Compare the paragraph of change ${number} side by side`}
      aria-haspopup="dialog"
      title="The paragraph as it is and as proposed, side by side"
      onClick={() =>
        usePanel.setState({ comparing: { request: hunk.request_id, paragraphOf: hunk.id } })
      }
    >
      Compare
    </button>
  )
}

/** Makes each place of the change a change of its own. */
function Split({ hunk, number, total, off }: SplitProps) {
  if (!canSplit(hunk)) return null
  const parts = hunk.parts.length
  return (
    <button
      type="button"
      className="button is-quiet"
      disabled={off}
      aria-label={`Split change ${number} of ${total} into ${parts} changes`}
      title={`Decide its ${parts} places one by one (S)`}
      onClick={() => void splitHunk(hunk)}
    >
      Split
    </button>
  )
}

interface SheetButtonsProps {
  hunk: Hunk
  number: number
  total: number
  off: boolean
  types: boolean
}

function SheetButtons({ hunk, number, total, off, types }: SheetButtonsProps) {
  const accept = useHasKeptEdit(hunk) ? 'Accept your edit' : 'Accept'
  const act = (press: (view: EditorView) => boolean) => () => {
    const view = openDocument()?.view
    if (view) press(view)
  }
  return (
    <span className="in-sheet">
      <button
        data-decides=""
        type="button"
        className="button is-accept"
        disabled={off}
        aria-label={`${accept}${accept === 'Accept' ? '' : ' of'} change ${number} of ${total}`}
        onClick={act(acceptActive)}
      >
        <Icon name="check" size={13} /> {accept}
      </button>
      {types && (
        <button
          type="button"
          className="button"
          disabled={off}
          aria-label={`Edit change ${number} of ${total}`}
          onClick={act(editActive)}
        >
          <Icon name="pencil" size={13} /> Edit
        </button>
      )}
      <button
        type="button"
        data-decides=""
        className="button"
        disabled={off}
        aria-label={`Reject change ${number} of ${total}`}
        onClick={act(rejectActive)}
      >
        <Icon name="cross" size={13} /> Reject
      </button>
    </span>
  )
}

/** The ways to decide a change together with others like it. */
function Together({ hunk }: { hunk: Hunk }) {
  const hunks = useReviewState((review) => review.hunks)
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  if (!doc) return null
  const list = (title: string, all: readonly Hunk[]) => ({ title, ids: all.map(({ id }) => id) })
  const same = alike(hunks, hunk)
  const near = inParagraph(hunks, hunk, doc)
  const ways = [
    { words: `Decide all ${same.length} alike…`, found: list('Changes like this one', same) },
    {
      words: `Decide this paragraph (${near.length})…`,
      found: list('Changes of this paragraph', near),
    },
  ].filter(({ found }) => found.ids.length > 1)
  if (ways.length === 0) return null
  return (
    <span className="decide-together">
      {ways.map(({ words, found }) => (
        <button
          type="button"
          key={words}
          className="button is-quiet"
          onClick={() => usePanel.setState({ together: found })}
        >
          {words}
        </button>
      ))}
    </span>
  )
}

/** "Moved from below ↓: 12 words". */
function movedWords({ parts }: Hunk, words: number): string {
  const gone = parts.find(({ insert }) => insert === '')
  const put = parts.find(({ insert }) => insert !== '')
  const isBelow = gone !== undefined && put !== undefined && gone.from > put.from
  return `Moved from ${isBelow ? 'below ↓' : 'above ↑'}: ${words} words`
}

/** How many words come and go. */
function Size({ hunk }: { hunk: Hunk }) {
  const { plus, minus } = wordChange(hunk)
  if (isMoved(hunk)) return <span className="count">{movedWords(hunk, plus)}</span>
  return (
    <span className="count" aria-hidden="true">
      {plus > 0 && `+${plus}`} {minus > 0 && `−${minus}`}
    </span>
  )
}

/**
 * A change in conflict is accepted only where its three texts are in view, so here it can only be
 * rejected.
 */
function decisionForms(
  hunk: Hunk,
  number: number,
  request: ToolApprovalRequest,
): [DecisionForm, ...DecisionForm[]] {
  const reject: DecisionForm = {
    verdict: 'reject',
    label: `Reject change ${number}`,
    draft: (words, rest) => rejection(hunk, { words, rest }),
    told: (words) => feedbackOnRejectOne(request, words),
    send: (words, rest) => rejectHunk(hunk, { words, rest }),
  }
  const accept: DecisionForm = {
    verdict: 'accept',
    label: `Accept change ${number}`,
    draft: (words, rest) => acceptance(hunk, { text: keptEdits()[hunk.id], words, rest }),
    told: (words) => feedbackOnAcceptOne(request, words),
    send: (words, rest) => acceptHunk(hunk, { words, rest }),
  }
  return hunk.status === 'conflict' ? [reject] : [reject, accept]
}
