/** The list of documents, and what can be done to it. */
import { create } from 'zustand'
import { attempt } from '../session/attempt.ts'
import { noteMentions } from '../session/mentions.ts'
import { hasCapability, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import type { DocumentLine } from '../wire/generated.ts'

interface LibraryState {
  documents: readonly DocumentLine[] | null
  problem: string | null
}
export const useLibrary = create<LibraryState>()(() => ({ documents: null, problem: null }))

export async function loadLibrary(): Promise<void> {
  const list = await attempt(wire.call('document:list', {}), ({ code, message }) => {
    if (code !== 'offline') useLibrary.setState({ problem: message })
  })
  if (!list) return
  const { documents } = list
  const known = useLibrary.getState().documents
  if (known && document.hidden) void notifyOfMore(known, documents)
  noteMentions(documents)
  useLibrary.setState({
    documents: documents.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)),
    problem: null,
  })
}

/** Notifies a person who looks at something else. */
async function notifyOfMore(
  before: readonly DocumentLine[],
  now: readonly DocumentLine[],
): Promise<void> {
  const notifications = await import('../account/notifications.ts')
  notifications.notifyOfMore(before, now)
}

let created: string | null = null

/** A document that was made just now is there to be written in. */
export function focusWhenOpen(id: string): void {
  created = id
}

/** Returns whether it was made just now; once. */
export function takesFocus(id: string): boolean {
  const is = created === id
  if (is) created = null
  return is
}

/** Returns the documents whose titles, or files, have all the words. Pure. */
export function search(documents: readonly DocumentLine[], sought: string): DocumentLine[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  const has = ({ title, path = '' }: DocumentLine) => `${title} ${path}`.toLowerCase()
  return documents.filter((line) => words.every((word) => has(line).includes(word)))
}

export async function renameDocument(documentId: string, title: string): Promise<boolean> {
  return (await attempt(wire.call('document:rename', { documentId, title }))) !== undefined
}

export async function deleteDocument(document: DocumentLine): Promise<void> {
  const { id: documentId, title, path } = document
  if (!(await attempt(wire.call('document:delete', { documentId })))) return
  // A file of the workspace stays where it is, and is opened from there.
  const undo = { label: 'Undo', run: () => void recoverDocument(document) }
  toast(`“${title}” is deleted.`, {
    about: documentId,
    ...(!path && hasCapability('trash') && { action: undo }),
  })
  await loadLibrary()
}

/** Puts a deleted document back into the list, and says so where it was said to be deleted. */
export async function recoverDocument({ id, title }: RecoverableDocument): Promise<void> {
  if (!(await attempt(wire.call('trash:recover', { documentId: id })))) return
  toast(`“${title}” is back in the list.`, { about: id })
  await loadLibrary()
}

type RecoverableDocument = Pick<DocumentLine, 'id' | 'title'>

/** The title that the server gives to the document of its first start. */
export const SAMPLE_TITLE = 'The Keeper’s Ledger'

/** Returns whether a document is the sample, as the server made it. */
export const isUntouchedSample = ({ title, version }: DocumentLine): boolean =>
  title === SAMPLE_TITLE && version === 0
