/** The active change in the panel: facts about it, and the decisions. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import type { Hunk, ToolApprovalRequest } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { useEffect } from 'react'
import { showRow } from '../../text/inView.ts'
import { useApproved } from '../../hooks/useApproved.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { hunkTouchesFrozen } from '../../../frozen/field.ts'
import { CommentButton } from '../../../comments/views/CommentButton.tsx'
import { DecisionButtons } from './DecisionButtons.tsx'
import { CompareButton, DeferButton, SplitButton, HunkSize } from './HunkButtons.tsx'
import { useBusy } from '../../stores/busy.ts'
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
import { Meaning, Reason } from './Meaning.tsx'
import { TogetherButtons } from './TogetherButtons.tsx'
import './HunkBody.css'

interface HunkBodyProps {
  hunk: Hunk
  number: number
  total: number
  request: ToolApprovalRequest
}

/** The facts about the active change, and the decisions about it. */
export function HunkBody({ hunk, number, total, request }: HunkBodyProps) {
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
      <Meaning hunk={hunk} />
      {approved.words !== '' && <p className="card-note">{approved.words}</p>}
      <Reason hunk={hunk} />
      {approved.decides ? (
        <Choices hunk={hunk} number={number} total={total} request={request} />
      ) : (
        <div className="hunk-actions">
          <CompareButton hunk={hunk} number={number} />
          <CommentButton hunk={hunk} number={number} />
          <DeferButton hunk={hunk} number={number} total={total} busy={false} />
        </div>
      )}
    </div>
  )
}

function Choices({ hunk, number, total, request }: HunkBodyProps) {
  const { editing, reasoning } = usePanel()
  const busy = useBusy((state) => state.ids.has(hunk.id))
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
  const shown = { hunk, number, total, busy }
  const more = (
    <>
      <SplitButton {...shown} />
      <DeferButton {...shown} />
    </>
  )
  if (hunk.status === 'conflict')
    return (
      <Conflict hunk={hunk} number={number} busy={busy} types={types}>
        {more}
      </Conflict>
    )
  return (
    <div className="hunk-actions">
      {/* Elsewhere the bar has these; here the panel lies over it. */}
      <span className="in-sheet">
        <DecisionButtons hunk={hunk} of={`change ${number} of ${total}`} sheet />
      </span>
      <OnlineButton
        look="quiet"
        disabled={busy}
        aria-label={`Add a reason for change ${number} of ${total}`}
        title="With a reason or a note"
        onClick={() => usePanel.setState({ reasoning: hunk.id, editing: null })}
      >
        <Icon name="speech" size={14} /> Add a reason
      </OnlineButton>
      {more}
      <CompareButton hunk={hunk} number={number} />
      <CommentButton hunk={hunk} number={number} />
      <TogetherButtons hunk={hunk} />
      <HunkSize hunk={hunk} />
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
