/** The active change in the panel: facts about it, and the decisions. */
import type { Hunk, ToolApprovalRequest } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { useEffect } from 'react'
import { showRow } from '../../text/inView.ts'
import { useApproved } from '../../hooks/useApproved.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { hunkTouchesFrozen } from '../../../frozen/field.ts'
import { CompareButton, SplitButton, SheetButtons, HunkSize } from './HunkButtons.tsx'
import { useBusy } from '../../stores/busy.ts'
import { useSession } from '../../../session/store.ts'
import { mayType } from '../../state/permissions.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { draftOf } from '../../state/drafts.ts'
import { tally } from '../../state/requests.ts'
import { Conflict } from './Conflict.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { DecisionForm } from '../../state/decisionForms.ts'
import { rejection, acceptance } from '../../state/responses.ts'
import { feedbackOnRejectOne, feedbackOnAcceptOne } from '../../state/modelFeedback.ts'
import { rejectHunk, acceptHunk } from '../../actions/decide.ts'
import { keptEdits } from '../../stores/drafts.ts'
import { TogetherButtons } from './TogetherButtons.tsx'
import './HunkBody.css'

interface HunkBodyProps {
  hunk: Hunk
  number: number
  total: number
  mayDecide: boolean
  request: ToolApprovalRequest
}

/** The facts about the active change, and the decisions about it. */
export function HunkBody({ hunk, number, total, mayDecide, request }: HunkBodyProps) {
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
        <CompareButton hunk={hunk} number={number} />
      )}
    </div>
  )
}

function Choices({ hunk, number, total, request }: Omit<HunkBodyProps, 'mayDecide'>) {
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
  const split = <SplitButton hunk={hunk} number={number} total={total} off={busy || offline} />
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
      <CompareButton hunk={hunk} number={number} />
      <HunkSize hunk={hunk} />
      <TogetherButtons hunk={hunk} />
    </div>
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
    feedback: (words) => feedbackOnRejectOne(request, words),
    send: (words, rest) => rejectHunk(hunk, { words, rest }),
  }
  const accept: DecisionForm = {
    verdict: 'accept',
    label: `Accept change ${number}`,
    draft: (words, rest) => acceptance(hunk, { text: keptEdits()[hunk.id], words, rest }),
    feedback: (words) => feedbackOnAcceptOne(request, words),
    send: (words, rest) => acceptHunk(hunk, { words, rest }),
  }
  return hunk.status === 'conflict' ? [reject] : [reject, accept]
}
