/** State of a question to the AI in a comment, and of its proposals. Pure. */
import { plural } from '../../ui/timeFormat.ts'
import type { ThreadProposal } from '../../wire/generated.ts'

/** "2 changes wait for a decision", "2 of 3 changes were accepted". */
export function proposalWords({ status, accepted, of }: ThreadProposal): string {
  const changes = of === 0 ? 'a plan' : plural(of, 'change')
  const were = of === 1 || of === 0 ? 'was' : 'were'
  const what = changes.charAt(0).toUpperCase() + changes.slice(1)
  switch (status) {
    case 'streaming':
    case 'pending':
      return accepted > 0
        ? `${accepted} of ${changes} accepted, the others wait for a decision`
        : `${what} ${of === 1 || of === 0 ? 'waits' : 'wait'} for a decision`
    case 'approved':
      return `${what} ${were} accepted`
    case 'partly':
      return `${accepted} of ${changes} accepted`
    case 'rejected':
      return `${what} ${were} rejected`
    case 'expired':
      return `Nobody decided about ${changes} in time`
    case 'cancelled':
      return `${what} ${were} withdrawn`
    case 'failed':
      return `${what} could not be applied`
  }
}

/** Words that stand in the place of an answer until it comes. */
export const waitingWords = (proposals: readonly ThreadProposal[]): string =>
  proposals.some(({ status }) => status === 'pending')
    ? 'AI answers once that is decided.'
    : 'AI is answering…'
