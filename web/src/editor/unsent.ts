/** What somebody typed that the server has not got. */
import type { ChangeSet } from '@codemirror/state'

/** The words in reading order; blanks are not worth keeping. */
export function unsentWords(unconfirmed: readonly ChangeSet[]): string[] {
  const [first, ...rest] = unconfirmed
  if (!first) return []
  const words: string[] = []
  rest.reduce((all, next) => all.compose(next), first).iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
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
