/** Typed changes that the server has not got: as they are sent, and as they are kept. */
import { sendableUpdates } from '@codemirror/collab'
import type { EditorState, Text } from '@codemirror/state'
import { suggestedIn } from './suggesting/field.ts'
import { type UnsentEdit, unsentEdit } from './unsent/unsentEdit.ts'

/** As it is pushed. */
export function sendable(state: EditorState): { clientID: string; changes: unknown }[] {
  return sendableUpdates(state).map(({ clientID, changes }) => ({
    clientID,
    changes: changes.toJSON() as unknown,
  }))
}

/** Words of a suggestion have no place in the history of the text. */
export function unsentOf(
  state: EditorState,
  confirmed: { doc: Text; version: number },
  id: string,
): UnsentEdit | null {
  const suggested = suggestedIn(state)
  if (!suggested) return unsentEdit(confirmed, sendableUpdates(state), id)
  const doc = suggested.own.apply(suggested.doc)
  const typed = suggested.typed.map((changes) => ({ changes, clientID: '' }))
  const edit = unsentEdit({ doc, version: confirmed.version }, typed, id)
  return edit && { ...edit, base: null, suggested: true }
}
