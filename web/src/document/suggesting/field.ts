/** Changes that stand in the editor's text and not in the server's, in each mode. */
import { collab, sendableUpdates } from '@codemirror/collab'
import {
  type ChangeSet,
  Compartment,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
} from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type Suggested, withTyped } from './suggested.ts'

export const setSuggested = StateEffect.define<Suggested>()

/** Only while the person suggests. */
export const suggestedField = StateField.define<Suggested>({
  create: () => {
    throw new Error('it has no value of its own')
  },
  update(value, tr) {
    for (const effect of tr.effects) if (effect.is(setSuggested)) return effect.value
    return tr.docChanged ? withTyped(value, tr.changes) : value
  },
})

export const suggestedIn = (state: EditorState): Suggested | undefined =>
  state.field(suggestedField, false)

/** Whatever differs between the modes. */
export const modeParts = new Compartment()

/** The text of the server, with what is typed and has not arrived. */
export const plainText = (startVersion: number, clientID: string, writes: boolean): Extension => [
  collab({ startVersion, clientID }),
  writable(writes),
]

export const writable = (writes: boolean): Extension => [
  EditorState.readOnly.of(!writes),
  EditorView.editable.of(writes),
  writes ? [] : EditorView.contentAttributes.of({ 'aria-readonly': 'true', tabindex: '0' }),
]

/** Changes of the server's text that lead to the one that is shown. */
export function unconfirmed(state: EditorState): ChangeSet[] {
  const suggested = suggestedIn(state)
  if (suggested) return [suggested.own, ...suggested.typed]
  return sendableUpdates(state).map(({ changes }) => changes)
}

/** Returns whether the server has everything that was typed. */
export const isSettled = (state: EditorState): boolean =>
  (suggestedIn(state)?.typed ?? sendableUpdates(state)).length === 0

/** Maps a position of the text that is shown to the server's text. */
export const inServerText = (state: EditorState, at: number): number =>
  unconfirmed(state).reduceRight((pos, changes) => changes.invertedDesc.mapPos(pos, 1), at)
