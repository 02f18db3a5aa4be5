/** One change in the panel: quoted, numbered, and with its buttons while it is the active one. */
import { useEffect, useRef } from 'react'
import { getCurrent } from '../../editor/sync/currentDocument.ts'
import { useDocument } from '../../editor/store.ts'
import { hunkTouchesFrozen } from '../../frozen/field.ts'
import { useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import type { ToolApprovalRequest, Hunk } from '../../wire/generated.ts'
import { Conflict } from './Conflict.tsx'
import { acceptHunk, rejectHunk, useBusy } from '../state/decide.ts'
import { draftOf } from '../state/drafts.ts'
import { activate, asItIs, describe } from '../changes/reviewField.ts'
import { HunkEdit } from './HunkEdit.tsx'
import { usePanel } from '../state/panel.ts'
import { Quotation } from './Quotation.tsx'
import { ReasonForm, type Way } from './ReasonForm.tsx'
import { acceptance, rejection } from '../state/responses.ts'
import { snippet, wordChange } from '../changes/snippet.ts'
import { tally } from '../state/store.ts'
import { feedbackOnAcceptOne, feedbackOnRejectOne } from '../wording/modelFeedback.ts'
import { mayType, useReviewer } from '../wording/permissions.ts'

interface Props {
  hunk: Hunk
  number: number
  total: number
  active: boolean
  mayDecide: boolean
  request: ToolApprovalRequest
}

export function HunkRow({ hunk, number, total, active, mayDecide, request }: Props) {
  // The quotation follows the text around it.
  useDocument((state) => state.revision)
  const row = useRef<HTMLLIElement>(null)
  const writing = usePanel((panel) => panel.editing === hunk.id || panel.reasoning === hunk.id)
  useEffect(() => {
    if (active) row.current?.scrollIntoView({ block: 'nearest' })
  }, [active, writing])
  const view = getCurrent()?.view
  if (!view) return null
  const touched = active && hunkTouchesFrozen(view.state, asItIs(view.state, hunk))
  return (
    <li ref={row} className={`hunk-row ${active ? 'is-active' : ''}`} data-row={hunk.id}>
      <button
        type="button"
        className="hunk-open"
        aria-current={active ? 'true' : undefined}
        onClick={() => activate(view, asItIs(view.state, hunk))}
      >
        <span aria-hidden="true">{number}</span>
        <span className="hidden-label">{describe(hunk, number, total)}</span>
        <span className="words" aria-hidden="true">
          <Quotation pieces={snippet(asItIs(view.state, hunk), view.state.doc)} />
          {hunk.status === 'conflict' && !active && <span className="badge">Text changed</span>}
        </span>
      </button>
      {active && (
        <div className="hunk-body">
          {touched && (
            <p className="warn-note">
              Some of these words are frozen now: no tool may change them, so this cannot be
              accepted. An owner can unfreeze them.
            </p>
          )}
          {hunk.explanation && <p className="hunk-why">{hunk.explanation}</p>}
          {mayDecide && <Choices hunk={hunk} number={number} total={total} request={request} />}
        </div>
      )}
    </li>
  )
}

function Choices({ hunk, number, total, request }: Omit<Props, 'active' | 'mayDecide'>) {
  const { editing, reasoning } = usePanel()
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  const types = mayType(useReviewer())
  if (types && editing === hunk.id) return <HunkEdit hunk={hunk} number={number} />
  if (reasoning === hunk.id)
    return (
      <ReasonForm
        ways={waysFor(hunk, number, request)}
        keptAs={draftOf(hunk.id, 'reason')}
        others={tally(request.hunks).open - 1}
      />
    )
  if (hunk.status === 'conflict')
    return <Conflict hunk={hunk} number={number} busy={busy || offline} types={types} />
  const { plus, minus } = wordChange(hunk)
  const off = busy || offline
  return (
    <div className="hunk-actions">
      <button
        type="button"
        className="button is-accept"
        disabled={off}
        aria-label={`Accept change ${number} of ${total}`}
        onClick={() => void acceptHunk(hunk)}
      >
        <Icon name="check" size={13} /> Accept
      </button>
      {types && (
        <button
          type="button"
          className="button"
          disabled={off}
          aria-label={`Edit change ${number} of ${total}`}
          onClick={() => usePanel.setState({ editing: hunk.id, reasoning: null })}
        >
          <Icon name="pencil" size={13} /> Edit
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={off}
        aria-label={`Reject change ${number} of ${total}`}
        onClick={() => void rejectHunk(hunk)}
      >
        <Icon name="cross" size={13} /> Reject
      </button>
      <button
        type="button"
        className="button is-quiet"
        disabled={off}
        aria-label={`Decide change ${number} of ${total} with a reason or a note`}
        title="With a reason or a note"
        onClick={() => usePanel.setState({ reasoning: hunk.id, editing: null })}
      >
        <Icon name="speech" size={14} />
      </button>
      <span className="count" aria-hidden="true">
        {plus > 0 && `+${plus}`} {minus > 0 && `−${minus}`}
      </span>
    </div>
  )
}

/** A change in conflict is accepted only where its three texts are in view, so here it can only be rejected. */
function waysFor(hunk: Hunk, number: number, request: ToolApprovalRequest): [Way, ...Way[]] {
  const reject: Way = {
    verdict: 'reject',
    label: `Reject change ${number}`,
    draft: (words, rest) => rejection(hunk, { words, rest }),
    told: (words) => feedbackOnRejectOne(request, words),
    send: (words, rest) => rejectHunk(hunk, { words, rest }),
  }
  const accept: Way = {
    verdict: 'accept',
    label: `Accept change ${number}`,
    draft: (words, rest) => acceptance(hunk, { words, rest }),
    told: (words) => feedbackOnAcceptOne(request, words),
    send: (words, rest) => acceptHunk(hunk, { words, rest }),
  }
  return hunk.status === 'conflict' ? [reject] : [reject, accept]
}
