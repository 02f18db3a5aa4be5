/**
 * Words that could not be sent before their document was closed, kept on this device until they are
 * offered back.
 */

const KEY = 'copydesk:unsent:'

export function keepUnsent(kept: Storage, documentId: string, words: readonly string[]): void {
  if (words.length === 0) return
  kept.setItem(KEY + documentId, JSON.stringify([...peek(kept, KEY + documentId), ...words]))
}

/** Keeps the words of a page that still holds them, in the place of those it kept before. */
export function keepUnsentOfPage(
  kept: Storage,
  documentId: string,
  page: string,
  words: readonly string[],
): void {
  const key = `${KEY}${documentId}${OF_PAGE}${page}`
  if (words.length === 0) kept.removeItem(key)
  else kept.setItem(key, JSON.stringify(words))
}

/** Takes them out: from now on the page holds them. */
export function takeUnsent(kept: Storage, documentId: string): string[] {
  const keys = keysIn(kept).filter((key) => documentOf(key) === documentId)
  const words = keys.flatMap((key) => peek(kept, key))
  keys.forEach((key) => kept.removeItem(key))
  return words
}

/** What waits, of all documents: for somebody who may open none of them any more. */
export function allUnsent(kept: Storage): { documentId: string; words: string[] }[] {
  const documents = [...new Set(keysIn(kept).map(documentOf))]
  const wordsOf = (documentId: string) =>
    keysIn(kept)
      .filter((key) => documentOf(key) === documentId)
      .flatMap((key) => peek(kept, key))
  return documents
    .map((documentId) => ({ documentId, words: wordsOf(documentId) }))
    .filter(({ words }) => words.length > 0)
}

/** What stands between a document and the page that holds its words. */
const OF_PAGE = '#'

const documentOf = (key: string): string => key.slice(KEY.length).split(OF_PAGE, 1)[0]!

const keysIn = (kept: Storage): string[] =>
  Array.from({ length: kept.length }, (_, index) => kept.key(index) ?? '').filter((key) =>
    key.startsWith(KEY),
  )

function peek(kept: Storage, key: string): string[] {
  try {
    const found: unknown = JSON.parse(kept.getItem(key) ?? '[]')
    return Array.isArray(found) ? found.filter((words) => typeof words === 'string') : []
  } catch {
    return []
  }
}
