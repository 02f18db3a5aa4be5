/** Review by keyboard: chords work in the text; Esc leaves it for the bar, where single letters work. */
import type { EditorView, KeyBinding } from '@codemirror/view'
import { canWrite, useDocument } from '../../editor/store.ts'
import type { Hunk } from '../../wire/generated.ts'
import { acceptHunk, rejectHunk, undoLastAccept } from '../state/decide.ts'
import { activate, activeHunk, hunksOf, neighbour, reviewField } from './reviewField.ts'
import { usePanel } from '../state/panel.ts'
import { reviewBar } from './keyboardFocus.ts'

export function go(view: EditorView, step: 1 | -1): boolean {
  const found = neighbour(hunksOf(view.state), view.state.field(reviewField).active, step)
  if (found) activate(view, found)
  return found !== undefined
}

/** A conflict is never accepted by a stray key: it is opened, and the choice made there. */
export function accept(hunk: Hunk): void {
  if (hunk.status === 'conflict') usePanel.setState({ open: true, editing: null })
  else void acceptHunk(hunk)
}

/** Who may not write sees it in the list, and decides it there as it is. */
export function edit(hunk: Hunk): void {
  usePanel.setState({ open: true, editing: canWrite(useDocument.getState().role) ? hunk.id : null })
}

const onActive =
  (act: (hunk: Hunk) => void) =>
  (view: EditorView): boolean => {
    const hunk = activeHunk(view.state)
    if (hunk) act(hunk)
    return hunk !== undefined
  }

function leaveText(view: EditorView): boolean {
  const bar = reviewBar()
  if (!bar || hunksOf(view.state).length === 0) return false
  bar.focus()
  return true
}

export const reviewKeys: readonly KeyBinding[] = [
  { key: 'F8', run: (view) => go(view, 1), shift: (view) => go(view, -1) },
  { key: 'Mod-Enter', run: onActive(accept) },
  { key: 'Shift-Mod-Enter', run: onActive((hunk) => void rejectHunk(hunk)) },
  { key: 'Alt-Enter', run: onActive(edit) },
  { key: 'Escape', run: leaveText },
  { key: 'Mod-z', run: undoLastAccept },
]
