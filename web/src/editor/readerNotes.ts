/** Says why nothing happens to who types into a text that they may only read or review. */
import { EditorView } from '@codemirror/view'
import type { Role } from '../wire/generated.ts'
import { toast } from '../ui/toasts.ts'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { canComment, canDecide, canWrite } from '../session/roles.ts'

/** Subject of the toast. */
const READ_ONLY = 'read only'

/** Pure. */
export function readerNote(role: Role): string {
  // They have chosen to read, at the top of the page.
  if (canWrite(role) || (canComment(role) && !canDecide(role)))
    return 'You are reading this text. Choose Suggesting at the top of the page to change something.'
  return canDecide(role)
    ? 'You can review this text, but not write in it. An owner can change that.'
    : 'You can read this text, but not write in it. An owner can change that.'
}

/** Returns whether a key would have put something in or taken something out. Pure. */
export const writes = ({
  key,
  ctrlKey,
  metaKey,
  altKey,
}: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): boolean =>
  !ctrlKey &&
  !metaKey &&
  !altKey &&
  ([...key].length === 1 || ['Enter', 'Backspace', 'Delete'].includes(key))

const say = (view: EditorView): boolean => {
  if (view.state.readOnly) toast(readerNote(useOpenDocument.getState().role), { about: READ_ONLY })
  return false
}

export const readerNotes = EditorView.domEventHandlers({
  keydown: (event, view) => (writes(event) && event.key !== ' ' ? say(view) : false),
  paste: (_, view) => say(view),
})
