/** Typed changes that the server has not got, as they are sent. */
import { sendableUpdates } from '@codemirror/collab'
import type { ChangeSet, EditorState } from '@codemirror/state'

/** As it is pushed. */
export function sendable(state: EditorState): { clientID: string; changes: unknown }[] {
  return sendableUpdates(state).map(({ clientID, changes }) => ({
    clientID,
    changes: changes.toJSON() as unknown,
  }))
}

export const unconfirmed = (state: EditorState): ChangeSet[] =>
  sendableUpdates(state).map(({ changes }) => changes)
