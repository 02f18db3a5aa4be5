/** The documents that the person may read. */
import type { DocumentLine } from '../wire/generated.ts'
import { wire } from './store.ts'

/** The most that the server gives at once. */
const PAGE = 1_000

/** Lists all documents, page by page: a long list holds up no other people of the server. */
export async function listDocuments(): Promise<DocumentLine[]> {
  const lines = new Map<string, DocumentLine>()
  let before: string | undefined
  do {
    const page = await wire.call('document:list', { limit: PAGE, ...(before && { before }) })
    // A document that is changed between two pages may be in both.
    for (const line of page.documents) lines.set(line.id, line)
    before = page.next
  } while (before)
  return [...lines.values()]
}
