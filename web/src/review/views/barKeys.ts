/** Keys of the review bar. */
import type { EditorView } from '@codemirror/view'
import { usePanel } from '../stores/panel.ts'
import { type KeyPress, actionOf } from '../state/keyActions.ts'
import { canWrite } from '../../session/roles.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { go, acceptActive, rejectActive, editActive, splitActive } from '../actions/keyBindings.ts'
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
  switch (act) {
    case 'next':
      return void go(view, 1)
    case 'previous':
      return void go(view, -1)
    case 'accept':
      return void acceptActive(view)
    case 'reject':
      return void rejectActive(view)
    case 'edit':
      return void editActive(view)
    case 'split':
      return void splitActive(view)
    case 'undo':
      return void undoLastDecision()
    case 'shortcuts':
      return onShortcuts()
    case 'text':
      return leaveBar(view)
  }
}
