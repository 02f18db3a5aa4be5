/** What somebody typed that the server has not got. */
import { sendableUpdates } from '@codemirror/collab'
import type { ChangeSet, EditorState } from '@codemirror/state'

/** As it is pushed. */
export function sendable(state: EditorState): { clientID: string; changes: unknown }[] {
  return sendableUpdates(state).map(({ clientID, changes }) => ({
    clientID,
    changes: changes.toJSON() as unknown,
  }))
}

/** The words in reading order; blanks are not worth keeping. */
export function unsentWords(unconfirmed: readonly ChangeSet[]): string[] {
  const [first, ...rest] = unconfirmed
  if (!first) return []
  const words: string[] = []
  rest
    .reduce((all, next) => all.compose(next), first)
    .iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
      if (inserted.length > 0) words.push(inserted.toString())
    })
  return words.filter((text) => text.trim() !== '')
}

/** The browser asks before it closes a tab with words that were not sent. */
export function warnBeforeLeaving(unsent: () => boolean): () => void {
  const warn = (event: BeforeUnloadEvent) => unsent() && event.preventDefault()
  window.addEventListener('beforeunload', warn)
  return () => window.removeEventListener('beforeunload', warn)
}
