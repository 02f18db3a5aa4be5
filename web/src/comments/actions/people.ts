/** Asks the server for people who can be mentioned, and are not here. */
import { wire } from '../../session/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import type { Person } from '../../wire/generated.ts'
import { useComments } from '../stores/threads.ts'

/** Once for each document: those who may read it or commented on it, and those who wrote in it. */
export async function readPeople(): Promise<void> {
  const { id } = useOpenDocument.getState()
  if (id === null || useComments.getState().others) return
  useComments.setState({ others: [] })
  const none = (): Person[] => []
  const found = await Promise.all([
    authors(id).catch(none),
    wire
      .call('comment:people', { documentId: id })
      .then(({ people }) => people)
      .catch(none),
  ])
  if (useOpenDocument.getState().id === id) useComments.setState({ others: found.flat() })
}

async function authors(documentId: string): Promise<Person[]> {
  const { spans } = await wire.call('document:provenance', { documentId })
  return spans.flatMap(({ author, approver }) => (approver ? [author, approver] : [author]))
}
