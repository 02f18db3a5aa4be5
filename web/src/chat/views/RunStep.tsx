/** One step of an answer: text, a call, its result. */
import type { Entry } from '../store.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { Markdown } from '../../ui/Markdown.tsx'
import { isPlan, PlanOutcome } from '../../review/views/cards/PlanOutcome.tsx'
import { isWaiting } from '../../review/state/requests.ts'
import { PlanCard } from '../../review/views/cards/PlanCard.tsx'
import { ProposalCard } from '../../review/views/cards/ProposalCard.tsx'
import { RequestOutcome } from '../../review/views/cards/RequestOutcome.tsx'
import { failedCall } from '../failedCall.ts'
import { Icon } from '../../ui/icons.tsx'
import './RunStep.css'

interface Props {
  entry: Entry
  request: ToolApprovalRequest | undefined
}

export function Step({ entry, request }: Props) {
  if (entry.kind === 'text')
    return entry.text.trim() === '' ? null : (
      <div className="answer">
        <Markdown text={entry.text} />
      </div>
    )
  if (!request && entry.result) return <Result words={entry.result} failed={entry.failed} />
  if (!request)
    return entry.waits ? (
      <p className="waits">Waits in “{entry.waits}”, whose people decide about it</p>
    ) : null
  if (isPlan(request))
    return isWaiting(request) ? <PlanCard request={request} /> : <PlanOutcome request={request} />
  if (isWaiting(request)) return <ProposalCard request={request} />
  return <RequestOutcome request={request} />
}

/** The result of a call whose request this tab has not seen. */
function Result({ words, failed }: { words: string; failed: boolean }) {
  const said = failed ? failedCall(words) : (words.split('\n', 1)[0] ?? '')
  return (
    <>
      <p className="tool-line">
        <Icon name={failed ? 'cross' : 'check'} size={13} /> <span>{said}</span>
      </p>
      {said !== words && (
        <details className="told">
          <summary>What the AI was told</summary>
          <pre>{words}</pre>
        </details>
      )}
    </>
  )
}
