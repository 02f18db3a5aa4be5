/** Says on the page that approvals are off, for as long as they are. */
import { Button } from '../../ui/Button.tsx'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { configure } from '../actions/settings.ts'

export function ApprovalsOff() {
  const off = useOpenDocument((state) => state.settings?.approvals === 'off')
  const phase = useOpenDocument((state) => state.phase)
  const owner = useOpenDocument((state) => state.role === 'owner')
  if (!off || phase !== 'open') return null
  return (
    <div className="recovered" role="status">
      <span>
        <b>Approvals are off.</b> What the AI proposes here changes the text at once. Each change
        can be undone from its card.
      </span>
      {owner && (
        <Button onClick={() => void configure({ approvals: 'on' })}>Turn approvals on</Button>
      )}
    </div>
  )
}
