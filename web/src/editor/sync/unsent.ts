/** What somebody typed that the server has not got. */
import { getSyncedVersion, sendableUpdates } from '@codemirror/collab'
import type { ChangeSet, EditorState } from '@codemirror/state'
import { useDocument } from '../store.ts'
import type { Wire } from '../../wire/socket.ts'
import { keepUnsent, keepUnsentOfPage } from './unsentStorage.ts'

/** As it is pushed. */
export function sendable(state: EditorState): { clientID: string; changes: unknown }[] {
  return sendableUpdates(state).map(({ clientID, changes }) => ({
    clientID,
    changes: changes.toJSON() as unknown,
  }))
}

export const unconfirmed = (state: EditorState): ChangeSet[] =>
  sendableUpdates(state).map(({ changes }) => changes)

/**
 * What was typed in the last moment still goes out; where it cannot, it is kept for the next visit.
 */
export function sendLastWords(state: EditorState, documentId: string, wire: Wire | null): void {
  const keep = () => keepUnsent(localStorage, documentId, unsentWords(unconfirmed(state)))
  if (!wire) return keep()
  wire
    .call('document:push', {
      documentId,
      version: getSyncedVersion(state),
      updates: sendable(state),
    })
    .catch(keep)
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

/**
 * While there are words that were not sent, the browser asks before it closes the tab, and they are
 * kept on this device when the page is hidden: a phone may end it then without asking. A page that
 * is shown again still holds them.
 */
export function guardUnsent(documentId: string, words: () => readonly string[]): () => void {
  const page = crypto.getRandomValues(new Uint32Array(1)).join()
  const keep = (now: readonly string[]) => {
    try {
      keepUnsentOfPage(localStorage, documentId, page, now)
    } catch {
      // There is no room, or it is not allowed: the question before closing is left.
    }
  }
  // What was offered back and not taken is still theirs.
  const held = () => [...words(), ...useDocument.getState().recovered]
  const warn = (event: BeforeUnloadEvent) => words().length > 0 && event.preventDefault()
  const leave = () => keep(held())
  const look = () => keep(document.hidden ? held() : [])
  const stop = useDocument.subscribe((now, before) => {
    if (now.saved === 'saved' && before.saved !== 'saved') look()
  })
  window.addEventListener('beforeunload', warn)
  window.addEventListener('pagehide', leave)
  document.addEventListener('visibilitychange', look)
  return () => {
    stop()
    window.removeEventListener('beforeunload', warn)
    window.removeEventListener('pagehide', leave)
    document.removeEventListener('visibilitychange', look)
  }
}
