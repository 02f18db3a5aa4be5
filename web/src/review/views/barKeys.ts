/** Keys of the review bar. */
import type { EditorView } from '@codemirror/view'
import { usePanel } from '../stores/panel.ts'
import { type KeyPress, type ReviewAction, actionOf } from '../state/keyActions.ts'
import { canWrite } from '../../session/roles.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import {
  acceptActive,
  deferActive,
  editActive,
  go,
  goUnread,
  rejectActive,
  splitActive,
} from '../actions/activeChange.ts'
import { undoLastDecision } from '../actions/undo.ts'

export function leaveBar(view: EditorView): void {
  view.focus()
  usePanel.setState({ finished: false })
}

/** The letters of the bar; others are left to the browser. What is held down decides once. */
export function handleBarKey(
  event: KeyPress & Pick<KeyboardEvent, 'preventDefault' | 'repeat'>,
  view: EditorView,
  mayDecide: boolean,
  onShortcuts: () => void,
): void {
  const act = actionOf(event, mayDecide, canWrite(useOpenDocument.getState().role))
  if (!act) return
  event.preventDefault()
  if (event.repeat && act !== 'next' && act !== 'previous') return
  if (act === 'shortcuts') return onShortcuts()
  ACTS[act](view)
}

const ACTS: Record<Exclude<ReviewAction, 'shortcuts'>, (view: EditorView) => unknown> = {
  next: (view) => go(view, 1),
  previous: (view) => go(view, -1),
  unread: goUnread,
  defer: deferActive,
  accept: acceptActive,
  reject: rejectActive,
  edit: editActive,
  split: splitActive,
  undo: undoLastDecision,
  text: leaveBar,
}
