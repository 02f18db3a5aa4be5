/**
 * Review by keyboard: chords work in the text; Esc leaves it for the bar, where single letters
 * work.
 */
import { EditorView, type KeyBinding } from '@codemirror/view'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { acceptActive, editActive, go, goUnread, rejectActive } from './activeChange.ts'
import { undoLastAct } from './undo.ts'
import { activate, reviewBar } from '../text/inView.ts'
import { leftText, wasVisited } from '../text/pressing.ts'
import { activeHunk, hunksOf, resolvedChange, reviewField } from '../text/reviewField.ts'
import { usePanel } from '../stores/panel.ts'
import { neededFor, reasonCannotDecide } from '../state/permissions.ts'
import { useSession } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { canDecide } from '../../session/roles.ts'
import { useRequests } from '../stores/requests.ts'
import { fromCaret } from '../state/changes.ts'
import { arranged } from '../state/marks.ts'

/**
 * Goes from the caret, as long as the person did not go to the active change; after that, from the
 * active change.
 */
function goFromText(view: EditorView, step: 1 | -1): true {
  const { hunks, active } = view.state.field(reviewField)
  const at = view.state.selection.main.head
  const { list } = usePanel.getState()
  const shown = arranged(hunks, { ...list, order: 'place' })
  const first = shown.filter(({ id }) => !list.later.has(id))
  const found = wasVisited(active)
    ? undefined
    : fromCaret(first.length > 0 ? first : shown, at, step)
  if (found) activate(view, found, { caret: true })
  else go(view, step)
  return true
}

function leaveText(view: EditorView): boolean {
  const bar = reviewBar()
  if (!bar || (hunksOf(view.state).length === 0 && !resolvedChange(view.state))) return false
  leftText()
  bar.focus()
  return true
}

/** Subject of the toast that says why a person may not decide. */
const MAY_NOT_DECIDE_TOAST = 'no say'

/** Returns why the person may not decide the active change, in words; `null`: they may. */
function reasonNotToDecide(view: EditorView): string | null {
  const { role } = useOpenDocument.getState()
  if (!canDecide(role)) return 'Viewers can’t accept or reject.'
  const hunk = activeHunk(view.state)
  const request = hunk && useRequests.getState().requests[hunk.request_id]
  const id = useSession.getState().me?.user.id
  return request ? reasonCannotDecide(neededFor(request, hunk), { id, role }) : null
}

/** One press too many, or one before the changes are there, must not write a line into the text. */
const decidesOnly =
  (decide: (view: EditorView) => boolean) =>
  (view: EditorView): boolean => {
    const refused = reasonNotToDecide(view)
    if (refused !== null) toast(refused, { about: MAY_NOT_DECIDE_TOAST })
    else if (!decide(view)) view.dispatch({ effects: EditorView.announce.of('Nothing to review.') })
    return true
  }

export const reviewKeys: readonly KeyBinding[] = [
  { key: 'F8', run: (view) => goFromText(view, 1), shift: (view) => goFromText(view, -1) },
  { key: 'Mod-F8', run: goUnread },
  { key: 'Mod-Enter', run: decidesOnly(acceptActive) },
  { key: 'Shift-Mod-Enter', run: decidesOnly(rejectActive) },
  { key: 'Alt-Enter', run: decidesOnly(editActive) },
  { key: 'Escape', run: leaveText },
  { key: 'Mod-z', run: undoLastAct },
]

/** A chord that is held down decides once. */
export const heldChords = EditorView.domEventHandlers({
  keydown: ({ repeat, key, ctrlKey, metaKey, altKey }) =>
    repeat && key === 'Enter' && (ctrlKey || metaKey || altKey),
})
