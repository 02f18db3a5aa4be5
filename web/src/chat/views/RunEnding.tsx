/** The end of a run that did not succeed. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { type ConversationRun, useChat } from '../store.ts'
import { Icon } from '../../ui/icons.tsx'
import { useSession } from '../../session/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { canWrite } from '../../session/roles.ts'
import { askOnceMore } from '../composer/ask.ts'
import './RunEnding.css'

export function Ending({ run }: { run: ConversationRun }) {
  switch (run.status) {
    case 'running':
    case 'success':
      return null
    case 'cancelled':
      return (
        <p className="tool-line">
          <Icon name="stop" size={13} /> Stopped.
        </p>
      )
    case 'max_tokens':
      return <p className="warn-note">The answer was cut off: it grew too long.</p>
    default:
      return (
        <>
          <p className="warn-note" role="alert">
            {run.problem
              ? `The AI could not finish this: ${run.problem.replace(/[.]?$/, '.')}`
              : 'The AI could not finish this.'}
          </p>
          <TryAgain run={run} />
        </>
      )
  }
}

/** Asks our newest question once more, about the same words. */
function TryAgain({ run }: { run: ConversationRun }) {
  const session = useSession((state) => state.me?.sessionId)
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const newest = useChat((chat) => chat.runs.findLast((other) => other.sessionId === session)?.id)
  if (run.id !== newest || !mayAsk || run.prompt === '') return null
  return (
    <OnlineButton className="try-again" onClick={() => void askOnceMore(run)}>
      Try again
    </OnlineButton>
  )
}
