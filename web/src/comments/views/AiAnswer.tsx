/** State of a question to the AI: an answer that is to come, and the proposed changes. */
import { acceptAll, decideAll } from '../../review/actions/decide.ts'
import { rejectionOfAll } from '../../review/state/responses.ts'
import { mayDecide } from '../../review/state/permissions.ts'
import { usePanel } from '../../review/stores/panel.ts'
import { useRequests } from '../../review/stores/requests.ts'
import { useReviewer } from '../../review/stores/reviewer.ts'
import { showCard } from '../../review/text/inView.ts'
import { attempt } from '../../session/attempt.ts'
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { useSession, wire } from '../../session/store.ts'
import { Button } from '../../ui/Button.tsx'
import type { Comment, ThreadProposal } from '../../wire/generated.ts'
import { proposalWords, waitingWords } from '../state/answers.ts'
import { focusCard } from './useCard.ts'

export function AiAnswer({ comment }: { comment: Comment }) {
  const { author, requestId, waiting, proposals = [] } = comment
  const me = useSession((session) => session.me?.user.id)
  if (author.ai || !requestId) return null
  const stop = (card: Element | null) =>
    attempt(wire.call('cancel', { requestId })).then(() => focusCard(card))
  return (
    <>
      {proposals.map((proposal) => (
        <Proposal key={proposal.request_id} proposal={proposal} />
      ))}
      {waiting && (
        <p className="ai-state" role="status">
          {waitingWords(proposals)}
          {author.id === me && (
            <Button
              look="quiet"
              onClick={({ currentTarget }) => void stop(currentTarget.closest('article'))}
            >
              Stop
            </Button>
          )}
        </p>
      )}
    </>
  )
}

/** State of a proposal in its thread, and the buttons that decide it. */
function Proposal({ proposal }: { proposal: ThreadProposal }) {
  const request = useRequests(({ requests }) => requests[proposal.request_id])
  const reviewer = useReviewer()
  const isOpen = request !== undefined && proposal.status === 'pending'
  const decides = isOpen && request.hunks.length > 0 && mayDecide(request, reviewer)
  const first = request?.hunks[0]?.id
  const left = proposal.of - proposal.accepted
  const all = left > 1 ? ` all ${left}` : ''
  // The buttons go with the decision: the keyboard stays in the thread.
  const decide = async (button: Element, done: Promise<boolean>) => {
    const card = button.closest('article')
    if (await done) focusCard(card)
  }
  const show = () => {
    usePanel.setState({ view: 'suggestions', open: true })
    if (first) requestAnimationFrame(() => showCard(first))
  }
  return (
    <div className="ai-state">
      <span role="status">{proposalWords(proposal)}</span>
      {decides && (
        <>
          <OnlineButton
            onClick={({ currentTarget }) => void decide(currentTarget, acceptAll(request))}
          >
            {`Accept${all}`}
          </OnlineButton>
          <OnlineButton
            onClick={({ currentTarget }) =>
              void decide(currentTarget, decideAll(request, rejectionOfAll(request)))
            }
          >
            {`Reject${all}`}
          </OnlineButton>
        </>
      )}
      {isOpen && (
        <Button look="quiet" onClick={show}>
          Show
        </Button>
      )}
    </div>
  )
}
