/** Opens up what the AI will be told. */
import { useEffect, useState } from 'react'
import { visible } from '../desk/shown.ts'
import { useCapability, wire } from '../session/store.ts'
import type { ApprovalResponse } from '../wire/types.ts'
import { worded } from './told.ts'

/** Typing a reason asks the server only when it pauses. */
const PAUSE_MS = 250

export function Told({ response, otherwise }: { response: ApprovalResponse; otherwise: string }) {
  const [open, setOpen] = useState(false)
  const exact = useExact(response, open)
  return (
    <details className="told" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What the AI will be told</summary>
      <pre>{visible(exact === null ? otherwise : worded(exact, otherwise))}</pre>
    </details>
  )
}

/** The server's own words for this decision, were it taken now. */
function useExact(response: ApprovalResponse, open: boolean): string | null {
  const supported = useCapability('told')
  const [words, setWords] = useState<string | null>(null)
  const asked = JSON.stringify(response)
  useEffect(() => {
    if (!supported || !open) return
    const timer = setTimeout(() => {
      wire.call('approval:told', JSON.parse(asked) as ApprovalResponse).then(({ text }) => setWords(text), () => setWords(null))
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [supported, open, asked])
  return words
}
