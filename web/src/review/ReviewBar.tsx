/** The bar at the bottom: where we are among the changes, and the two decisions. Single letters work here. */
import type { EditorView } from '@codemirror/view'
import { cancelRun } from '../chat/ask.ts'
import { useWorking } from '../chat/working.ts'
import { canDecide, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { MOD, SHIFT } from '../ui/keys.ts'
import type { Hunk } from '../wire/types.ts'
import { rejectHunk, undoLastAccept, useBusy } from './decide.ts'
import { useFocusHeartbeat } from './focus.ts'
import { accept, edit, go } from './keys.ts'
import { usePanel } from './panel.ts'

interface Props { view: EditorView; onShortcuts: () => void }

export function ReviewBar({ view, onShortcuts }: Props) {
  const { hunks, active, role } = useDocument()
  const running = useWorking()
  const at = hunks.findIndex((hunk) => hunk.id === active)
  const hunk = hunks[at]
  useFocusHeartbeat(hunk?.request_id ?? null, canDecide(role))
  if (hunks.length === 0) return running ? <Writing id={running.id} /> : null
  return (
    <div className="review-bar" role="toolbar" aria-label="Review changes" data-review-bar tabIndex={-1} onKeyDown={(event) => press(event, view, hunk, canDecide(role), onShortcuts)}>
      <button type="button" className="icon-button" aria-label="Previous change" title={`Previous change (${SHIFT} F8)`} onClick={() => go(view, -1)}>
        <Icon name="up" />
      </button>
      <button type="button" className="count" title="Show in the list" aria-label={`Change ${at + 1} of ${hunks.length}. Show in the list`} onClick={() => usePanel.setState({ open: true })}>
        <b>{at + 1}</b> of {hunks.length}
      </button>
      <button type="button" className="icon-button" aria-label="Next change" title="Next change (F8)" onClick={() => go(view, 1)}>
        <Icon name="down" />
      </button>
      {hunk && canDecide(role) && <Decisions hunk={hunk} number={at + 1} />}
    </div>
  )
}

function Decisions({ hunk, number }: { hunk: Hunk; number: number }) {
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  const off = busy || offline
  const why = offline ? 'Reviewing waits until you are back online' : undefined
  return (
    <>
      <span className="divide" />
      <button type="button" className="button" disabled={off} title={why} aria-label={`Reject change ${number}`} onClick={() => void rejectHunk(hunk)}>
        Reject <kbd data-keys={`${MOD} ⇧ ↵`} />
      </button>
      <button type="button" className="button is-primary" disabled={off} title={why} aria-label={hunk.status === 'conflict' ? `Look at it: change ${number}, the text changed` : `Accept change ${number}`} onClick={() => accept(hunk)}>
        {hunk.status === 'conflict' ? 'Look at it' : 'Accept'} <kbd data-keys={`${MOD} ↵`} />
      </button>
    </>
  )
}

function Writing({ id }: { id: string }) {
  return (
    <div className="review-bar" role="group" aria-label="The AI is writing">
      <span className="count" style={{ padding: '0 10px' }}>Writing…</span>
      <span className="divide" />
      <button type="button" className="button" onClick={() => cancelRun(id)}>
        <Icon name="stop" size={13} /> Stop
      </button>
    </div>
  )
}

/** The letters of the bar; others are left to the browser. */
export function press(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'preventDefault'>, view: EditorView, hunk: Hunk | undefined, mayDecide: boolean, onShortcuts: () => void): void {
  const act = actionOf(event, mayDecide)
  if (!act) return
  event.preventDefault()
  switch (act) {
    case 'next':
      return void go(view, 1)
    case 'previous':
      return void go(view, -1)
    case 'accept':
      return hunk && accept(hunk)
    case 'reject':
      return void (hunk && rejectHunk(hunk))
    case 'edit':
      return hunk && edit(hunk)
    case 'undo':
      return void undoLastAccept()
    case 'sheet':
      return onShortcuts()
    case 'text':
      return view.focus()
  }
}

type Act = 'next' | 'previous' | 'accept' | 'reject' | 'edit' | 'undo' | 'sheet' | 'text'

function actionOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>, mayDecide: boolean): Act | undefined {
  const mod = ctrlKey || metaKey
  if (key === 'F8') return shiftKey ? 'previous' : 'next'
  if (key === 'Enter' && mayDecide && (mod || altKey)) return altKey ? 'edit' : shiftKey ? 'reject' : 'accept'
  if (mod || altKey) return undefined
  const letters: Record<string, Act> = { j: 'next', k: 'previous', '?': 'sheet', Escape: 'text', ...(mayDecide && { a: 'accept', r: 'reject', e: 'edit', u: 'undo' }) }
  return letters[key.length === 1 ? key.toLowerCase() : key]
}
