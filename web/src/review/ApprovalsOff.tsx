/** Where nobody is asked, the page says so for as long as it is so. */
import { useDocument } from '../editor/store.ts'
import { configure } from './state/settings.ts'

export function ApprovalsOff() {
  const off = useDocument((state) => state.settings?.approvals === 'off')
  const phase = useDocument((state) => state.phase)
  const owner = useDocument((state) => state.role === 'owner')
  if (!off || phase !== 'open') return null
  return (
    <div className="recovered" role="status">
      <span>
        <b>Approvals are off.</b> What the AI proposes here changes the text at once. Each change
        can be undone from its card.
      </span>
      {owner && (
        <button
          type="button"
          className="button"
          onClick={() => void configure({ approvals: 'on' })}
        >
          Turn approvals on
        </button>
      )}
    </div>
  )
}
