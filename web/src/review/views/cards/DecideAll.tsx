/** Decisions about all changes of one request. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { Button } from '../../../ui/Button.tsx'
import type { ToolApprovalRequest, Hunk } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { canRemember } from '../../../rules/wording.ts'
import { useHasKeptEdit } from '../../stores/keptEdits.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { draftOf } from '../../state/drafts.ts'
import { acceptAllForm, rejectForm } from '../../state/decisionForms.ts'
import { decideAll, acceptAll, acceptHunk } from '../../actions/decide.ts'
import { keptEdits } from '../../stores/drafts.ts'
import { Icon } from '../../../ui/icons.tsx'
import { isProofread, corrections } from '../../state/similar.ts'
import { RememberOffer } from '../../../rules/RememberOffer.tsx'
import { isMarked } from '../../state/marks.ts'
import { mayDecide, neededFor } from '../../state/permissions.ts'
import { useReviewer } from '../../stores/reviewer.ts'
import { KeepMeaningButton } from './KeepMeaningButton.tsx'
import './DecideAll.css'

/** The name under which the panel remembers that a note is being written. */
const noteFor = (request: ToolApprovalRequest): string => `note:${request.request_id}`

/** Conflicted changes stay open when the rest is accepted; rejecting takes them too. */
export function DecideAll({
  request,
  hunks,
}: {
  request: ToolApprovalRequest
  hunks: readonly Hunk[]
}) {
  const reasoning = usePanel((panel) => panel.reasoning)
  const open = hunks.length
  const reviewer = useReviewer()
  const ready = hunks.filter(
    (hunk) =>
      hunk.status === 'pending' && !hunk.writing && mayDecide(neededFor(request, hunk), reviewer),
  )
  const only = ready.length === 1 ? ready[0] : undefined
  // A note goes with all of them, and so not where some are left to others.
  const isAll = ready.length === hunks.filter((hunk) => hunk.status === 'pending').length
  const remembers = ready.length === open && canRemember(request)
  const isEdited = useHasKeptEdit(only)
  const accept = !only
    ? `Accept all ${ready.length}`
    : isEdited
      ? 'Accept your edit'
      : 'Accept 1 change'
  if (reasoning === request.request_id) {
    const form = rejectForm(request, `Reject all ${open}`, decideAll)
    return <ReasonForm keptAs={draftOf(request.request_id, 'reason')} forms={[form]} />
  }
  if (reasoning === noteFor(request)) {
    const form = acceptAllForm(request, accept, decideAll, keptEdits())
    return <ReasonForm keptAs={draftOf(request.request_id, 'note')} forms={[form]} />
  }
  const note = (
    <OnlineButton
      look="quiet"
      onClick={() => usePanel.setState({ reasoning: noteFor(request), editing: null })}
    >
      <Icon name="speech" size={14} /> {accept} with a note
    </OnlineButton>
  )
  return (
    <>
      {ready.length > 0 && (
        <OnlineButton
          look="accept"
          data-decides=""
          onClick={() =>
            only ? void acceptHunk(only) : list(`All changes: ${ready.length}`, ready)
          }
        >
          {only ? accept : `${accept}…`}
        </OnlineButton>
      )}
      <KeepMeaningButton of={[request]} />
      <OnlineButton
        onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}
      >
        {open === 1 ? 'Reject 1 change…' : `Reject all ${open}…`}
      </OnlineButton>
      {!isProofread(request.hunks, request) && (
        <Corrections hunks={corrections(ready, request)} of={ready} />
      )}
      {ready.length > 0 && isAll && !remembers && note}
      {ready.length > 0 && remembers && (
        <details className="more-decisions">
          <summary>More</summary>
          {note}
          <RememberOffer
            request={request}
            accept={accept}
            send={(wish) => acceptAll(request, wish)}
          />
        </details>
      )}
    </>
  )
}

/**
 * Accepts corrections of a word or two all at once, where they are neither all that can be accepted
 * nor all that keeps the meaning.
 */
function Corrections({ hunks: found, of }: { hunks: readonly Hunk[]; of: readonly Hunk[] }) {
  const keeping = of.filter((hunk) => !isMarked(hunk))
  const isSame = (all: readonly Hunk[]) => all.every((hunk) => found.includes(hunk))
  if (found.length === 0 || isSame(of) || (isSame(keeping) && !found.some(isMarked))) return null
  return (
    <Button onClick={() => list('Corrections', found)}>
      {found.length === 1 ? 'Accept 1 correction…' : `Accept all ${found.length} corrections…`}
    </Button>
  )
}

/** Lists changes, before they are decided together. */
function list(title: string, hunks: readonly Hunk[]): void {
  usePanel.setState({ together: { title, hunks } })
}
