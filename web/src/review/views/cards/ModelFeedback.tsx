/** Opens up the words that the AI will get. */
import { useEffect, useState } from 'react'
import { showInvisible } from '../../../ui/visibleText.ts'
import { wire } from '../../../session/store.ts'
import type { Told, ToolApprovalResponse } from '../../../wire/generated.ts'
import { useRequests } from '../../stores/requests.ts'
import { worded } from '../../state/modelFeedback.ts'
import './ModelFeedback.css'

/** Typing a reason asks the server only when it pauses. */
const PAUSE_MS = 250

export function ModelFeedback({
  response,
  otherwise,
}: {
  response: ToolApprovalResponse
  otherwise: string
}) {
  const [open, setOpen] = useState(false)
  const exact = useExact(response, open)
  const source = useRequests((state) => state.requests[response.request_id]?.source)
  // No model waits for it.
  if (source === 'person') return null
  return (
    <details className="told" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What the AI will be told</summary>
      <pre>{showInvisible(exact === null ? otherwise : worded(exact, otherwise))}</pre>
    </details>
  )
}

/** The server's own report on this decision, were it taken now. */
function useExact(response: ToolApprovalResponse, open: boolean): Told | null {
  const [told, setTold] = useState<Told | null>(null)
  const asked = JSON.stringify(response)
  useEffect(() => {
    if (!open) return
    const timer = setTimeout(() => {
      wire
        .call('approval:told', JSON.parse(asked) as ToolApprovalResponse)
        .then(setTold, () => setTold(null))
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [open, asked])
  return told
}
