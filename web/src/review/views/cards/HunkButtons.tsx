/** Buttons of the active change that stand beside accepting and rejecting it. */
import { OnlineButton } from '../../../session/OnlineButton.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { canSplit, isMoved } from '../../state/hunk.ts'
import { deferHunk } from '../../actions/defer.ts'
import { splitHunk } from '../../actions/decide.ts'
import { wordChange } from '../../state/snippet.ts'
import './HunkButtons.css'

interface ButtonProps {
  hunk: Hunk
  number: number
  total: number
  busy: boolean
}

/** The paragraph of the change, as it is and as it would be. */
export function CompareButton({ hunk, number }: { hunk: Hunk; number: number }) {
  return (
    <Button
      look="quiet"
      aria-label={`Compare the paragraph of change ${number} side by side`}
      aria-haspopup="dialog"
      title="The paragraph as it is and as proposed, side by side"
      onClick={() =>
        usePanel.setState({ comparing: { request: hunk.request_id, paragraphOf: hunk.id } })
      }
    >
      Compare
    </Button>
  )
}

/** Puts the change at the end of one's own list, or back. */
export function DeferButton({ hunk, number, total, busy }: ButtonProps) {
  const isLater = usePanel(({ list }) => list.later.has(hunk.id))
  return (
    <OnlineButton
      look="icon"
      disabled={busy}
      aria-pressed={isLater}
      aria-label={`Put change ${number} of ${total} off for later`}
      title="At the end of your own list (D)"
      onClick={() => void deferHunk(hunk)}
    >
      <Icon name="clock" size={14} />
    </OnlineButton>
  )
}

/** Makes each place of the change a change of its own. */
export function SplitButton({ hunk, number, total, busy }: ButtonProps) {
  if (!canSplit(hunk)) return null
  const parts = hunk.parts.length
  return (
    <OnlineButton
      look="quiet"
      disabled={busy}
      aria-label={`Split change ${number} of ${total} into ${parts} changes`}
      title={`Decide its ${parts} places one by one (S)`}
      onClick={() => void splitHunk(hunk)}
    >
      Split
    </OnlineButton>
  )
}

/** "Moved from below ↓: 12 words". */
function movedWords({ parts }: Hunk, words: number): string {
  const gone = parts.find(({ insert }) => insert === '')
  const put = parts.find(({ insert }) => insert !== '')
  const isBelow = gone !== undefined && put !== undefined && gone.from > put.from
  return `Moved from ${isBelow ? 'below ↓' : 'above ↑'}: ${words} words`
}

/** The numbers of words that come and go. */
export function HunkSize({ hunk }: { hunk: Hunk }) {
  const { plus, minus } = wordChange(hunk)
  if (isMoved(hunk)) return <span className="count">{movedWords(hunk, plus)}</span>
  return (
    <span className="count" aria-hidden="true">
      {plus > 0 && `+${plus}`} {minus > 0 && `−${minus}`}
    </span>
  )
}
