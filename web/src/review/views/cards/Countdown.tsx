/**
 * The time that the request still waits, the people who hold it by looking, and more time for those
 * who need it.
 */
import { useState } from 'react'
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { wire } from '../../../session/store.ts'
import { timeLeft, timeSpan } from '../../../ui/timeFormat.ts'
import { useNow } from '../../../ui/useNow.ts'
import type { ToolApprovalRequest } from '../../../wire/generated.ts'
import { explain } from '../../actions/explain.ts'
import './Countdown.css'

const SHORT_MS = 90_000

interface Props {
  request: ToolApprovalRequest
  others: readonly string[]
  mayDecide: boolean
}

export function Countdown({ request, others, mayDecide }: Props) {
  const looking =
    others.length === 0
      ? ''
      : `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} looking at this.`
  const now = useNow(request.expires_at === null || request.paused ? null : 1_000)
  if (request.expires_at === null)
    return looking === '' ? null : <p className="countdown">{looking}</p>
  const remaining = Date.parse(request.expires_at) - now
  const short = !request.paused && remaining < SHORT_MS
  return (
    <p className={`countdown ${short ? 'is-short' : ''}`} role={short ? 'timer' : undefined}>
      <span>
        {looking}
        {looking && ' '}
        {request.paused ? (
          <Paused key={request.expires_at} remaining={remaining} />
        ) : (
          timeLeft(remaining)
        )}
      </span>
      {mayDecide && (
        <OnlineButton
          look={short ? undefined : 'link'}
          onClick={() =>
            void wire.call('approval:extend', { request_id: request.request_id }).catch(explain)
          }
        >
          Keep it
        </OnlineButton>
      )}
    </p>
  )
}

/** The time that was left when it began to stand still. */
function Paused({ remaining }: { remaining: number }) {
  const [left] = useState(remaining)
  return <>Expires {timeSpan(left)} after you leave</>
}
