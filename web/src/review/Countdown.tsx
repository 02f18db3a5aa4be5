/** How long the request still waits, and more time for those who need it. */
import { useEffect, useState } from 'react'
import { useCapability, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { left } from '../ui/when.ts'
import type { ApprovalRequest } from '../wire/types.ts'

const SHORT_MS = 90_000

export function Countdown({ request }: { request: ApprovalRequest }) {
  const canExtend = useCapability('extend')
  const now = useNow(request.expires_at !== null && !request.paused)
  if (request.expires_at === null) return null
  if (request.paused) return <p className="countdown" title="The countdown stands still while somebody looks">Paused</p>
  const remaining = Date.parse(request.expires_at) - now
  const short = remaining < SHORT_MS
  return (
    <p className={`countdown ${short ? 'is-short' : ''}`} role={short ? 'timer' : undefined}>
      {left(remaining)}
      {short && canExtend && (
        <button type="button" className="button" onClick={() => void wire.call('approval:extend', { request_id: request.request_id }).catch((error: Error) => toast(error.message))}>
          More time
        </button>
      )}
    </p>
  )
}

function useNow(ticking: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [ticking])
  return now
}
