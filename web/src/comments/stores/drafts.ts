/** Comments that are not sent yet: kept on this device, for each document and person. */
import { create } from 'zustand'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { keep, readKept } from '../../session/browserStorage.ts'
import { useSession } from '../../session/store.ts'
import {
  type Draft,
  type Drafts,
  keyOf,
  type Place,
  readDrafts,
  withDraft,
} from '../state/drafts.ts'

interface Kept {
  documentId: string | null
  drafts: Drafts
}

const useKept = create<Kept>()(() => ({ documentId: null, drafts: {} }))

const me = (): string => useSession.getState().me?.user.id ?? ''
const storageKey = (id: string): string => `copydesk:comment-drafts:${id}`

function current(): Drafts {
  const { id } = useOpenDocument.getState()
  if (id !== null && useKept.getState().documentId !== id)
    useKept.setState({
      documentId: id,
      drafts: readDrafts(readKept(storageKey(id)), me()),
    })
  return useKept.getState().drafts
}

export function useCommentDrafts(): Drafts {
  current()
  return useKept((kept) => kept.drafts)
}

export const draftOf = (place: Place): Draft | undefined => current()[keyOf(place)]

/** Keeps what is written about a place; an empty text: nothing any more. */
export function keepDraft(draft: Omit<Draft, 'by'>): void {
  const drafts = withDraft(current(), { ...draft, by: me() })
  const { documentId } = useKept.getState()
  useKept.setState({ drafts })
  if (documentId === null) return
  const isEmpty = Object.keys(drafts).length === 0
  keep(storageKey(documentId), isEmpty ? null : JSON.stringify(drafts))
}

export const forgetDraft = (place: Place): void => keepDraft({ place, text: '', picked: [] })
