/** Decisions about all changes of one request. */
import type { ToolApprovalRequest, Hunk } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { useSession, useCapability } from '../../../session/store.ts'
import { canRemember } from '../../../rules/wording.ts'
import { useHasKeptEdit } from '../../stores/keptEdits.ts'
import { ReasonForm } from './ReasonForm.tsx'
import { draftOf } from '../../state/drafts.ts'
import { rejectionOfAll, acceptanceOfAll } from '../../state/responses.ts'
import { feedbackOnRejectAll, feedbackOnAcceptAll } from '../../state/modelFeedback.ts'
import { rejectAll, acceptAll, acceptHunk } from '../../actions/decide.ts'
import { keptEdits } from '../../stores/drafts.ts'
import { Icon } from '../../../ui/icons.tsx'
import { isProofread, corrections } from '../../state/similar.ts'
import { RememberOffer } from '../../../rules/RememberOffer.tsx'
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
  const offline = useSession((session) => session.link !== 'online')
  const hasRules = useCapability('rules')
  const open = hunks.length
  const ready = hunks.filter((hunk) => hunk.status === 'pending')
  const only = ready.length === 1 ? ready[0] : undefined
  const remembers = hasRules && ready.length === open && canRemember(request)
  const isEdited = useHasKeptEdit(only)
  const accept = !only
    ? `Accept all ${ready.length}`
    : isEdited
      ? 'Accept your edit'
      : 'Accept 1 change'
  if (reasoning === request.request_id) {
    return (
      <ReasonForm
        keptAs={draftOf(request.request_id, 'reason')}
        forms={[
          {
            verdict: 'reject',
            label: `Reject all ${open}`,
            draft: (words) => rejectionOfAll(request, words),
            feedback: (words) => feedbackOnRejectAll(request, words),
            send: (words) => rejectAll(request, words),
          },
        ]}
      />
    )
  }
  if (reasoning === noteFor(request)) {
    return (
      <ReasonForm
        keptAs={draftOf(request.request_id, 'note')}
        forms={[
          {
            verdict: 'accept',
            label: accept,
            draft: (words) => acceptanceOfAll(request, words, keptEdits()),
            feedback: feedbackOnAcceptAll,
            send: (words) => acceptAll(request, words),
          },
        ]}
      />
    )
  }
  const note = (
    <button
      type="button"
      className="button is-quiet"
      disabled={offline}
      onClick={() => usePanel.setState({ reasoning: noteFor(request), editing: null })}
    >
      <Icon name="speech" size={14} /> {accept} with a note
    </button>
  )
  return (
    <>
      {ready.length > 0 && (
        <button
          data-decides=""
          type="button"
          className="button is-accept"
          disabled={offline}
          onClick={() =>
            only ? void acceptHunk(only) : list(`All changes: ${ready.length}`, ready)
          }
        >
          {only ? accept : `${accept}…`}
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={offline}
        onClick={() => usePanel.setState({ reasoning: request.request_id, editing: null })}
      >
        {open === 1 ? 'Reject 1 change…' : `Reject all ${open}…`}
      </button>
      {!isProofread(request.hunks, request) && (
        <Corrections hunks={corrections(hunks, request)} of={ready.length} />
      )}
      {ready.length > 0 && !remembers && note}
      {ready.length > 0 && remembers && (
        <details className="more-decisions">
          <summary>More</summary>
          {note}
          <RememberOffer
            request={request}
            accept={accept}
            send={(wish) => acceptAll(request, '', wish)}
          />
        </details>
      )}
    </>
  )
}

/**
 * Accepts corrections of a word or two all at once, where they are not all that can be accepted.
 */
function Corrections({ hunks: found, of }: { hunks: readonly Hunk[]; of: number }) {
  if (found.length === 0 || found.length === of) return null
  return (
    <button type="button" className="button" onClick={() => list('Corrections', found)}>
      {found.length === 1 ? 'Accept 1 correction…' : `Accept all ${found.length} corrections…`}
    </button>
  )
}

/** Lists changes, before they are decided together. */
function list(title: string, hunks: readonly Hunk[]): void {
  usePanel.setState({ together: { title, ids: hunks.map(({ id }) => id) } })
}
