/** Buttons of the active change that stand beside accepting and rejecting it. */
import type { Hunk } from '../../../wire/generated.ts'
import { usePanel } from '../../stores/panel.ts'
import { canSplit, isMoved } from '../../state/hunk.ts'
import { splitHunk } from '../../actions/decide.ts'
import { useHasKeptEdit } from '../../stores/keptEdits.ts'
import type { EditorView } from '@codemirror/view'
import { openDocument } from '../../../document/openDocument.ts'
import { acceptActive, editActive, rejectActive } from '../../actions/keyBindings.ts'
import { Icon } from '../../../ui/icons.tsx'
import { wordChange } from '../../state/snippet.ts'
import './HunkButtons.css'

interface SplitProps {
  hunk: Hunk
  number: number
  total: number
  off: boolean
}

/** The paragraph of the change, as it is and as it would be. */
export function CompareButton({ hunk, number }: { hunk: Hunk; number: number }) {
  return (
    <button
      type="button"
      className="button is-quiet"
      aria-label={`Compare the paragraph of change ${number} side by side`}
      aria-haspopup="dialog"
      title="The paragraph as it is and as proposed, side by side"
      onClick={() =>
        usePanel.setState({ comparing: { request: hunk.request_id, paragraphOf: hunk.id } })
      }
    >
      Compare
    </button>
  )
}

/** Makes each place of the change a change of its own. */
export function SplitButton({ hunk, number, total, off }: SplitProps) {
  if (!canSplit(hunk)) return null
  const parts = hunk.parts.length
  return (
    <button
      type="button"
      className="button is-quiet"
      disabled={off}
      aria-label={`Split change ${number} of ${total} into ${parts} changes`}
      title={`Decide its ${parts} places one by one (S)`}
      onClick={() => void splitHunk(hunk)}
    >
      Split
    </button>
  )
}

interface SheetButtonsProps {
  hunk: Hunk
  number: number
  total: number
  off: boolean
  types: boolean
}

export function SheetButtons({ hunk, number, total, off, types }: SheetButtonsProps) {
  const accept = useHasKeptEdit(hunk) ? 'Accept your edit' : 'Accept'
  const act = (press: (view: EditorView) => boolean) => () => {
    const view = openDocument()?.view
    if (view) press(view)
  }
  return (
    <span className="in-sheet">
      <button
        data-decides=""
        type="button"
        className="button is-accept"
        disabled={off}
        aria-label={`${accept}${accept === 'Accept' ? '' : ' of'} change ${number} of ${total}`}
        onClick={act(acceptActive)}
      >
        <Icon name="check" size={13} /> {accept}
      </button>
      {types && (
        <button
          type="button"
          className="button"
          disabled={off}
          aria-label={`Edit change ${number} of ${total}`}
          onClick={act(editActive)}
        >
          <Icon name="pencil" size={13} /> Edit
        </button>
      )}
      <button
        type="button"
        data-decides=""
        className="button"
        disabled={off}
        aria-label={`Reject change ${number} of ${total}`}
        onClick={act(rejectActive)}
      >
        <Icon name="cross" size={13} /> Reject
      </button>
    </span>
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
