/**
 * Words that could not be sent before their document was closed, kept on this device until they are
 * offered back.
 */

const KEY = 'copydesk:unsent:'

export function stash(kept: Storage, documentId: string, words: readonly string[]): void {
  if (words.length === 0) return
  kept.setItem(KEY + documentId, JSON.stringify([...peek(kept, documentId), ...words]))
}

/** Takes them out: from now on the page holds them. */
export function unstash(kept: Storage, documentId: string): string[] {
  const words = peek(kept, documentId)
  kept.removeItem(KEY + documentId)
  return words
}

/** What waits, of all documents: for somebody who may open none of them any more. */
export function stashed(kept: Storage): { documentId: string; words: string[] }[] {
  const keys = Array.from({ length: kept.length }, (_, index) => kept.key(index) ?? '').filter(
    (key) => key.startsWith(KEY),
  )
  const found = keys
    .map((key) => key.slice(KEY.length))
    .map((documentId) => ({ documentId, words: peek(kept, documentId) }))
  return found.filter(({ words }) => words.length > 0)
}

function peek(kept: Storage, documentId: string): string[] {
  try {
    const found: unknown = JSON.parse(kept.getItem(KEY + documentId) ?? '[]')
    return Array.isArray(found) ? found.filter((words) => typeof words === 'string') : []
  } catch {
    return []
  }
}
