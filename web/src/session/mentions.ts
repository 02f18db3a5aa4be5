/** Unread mentions of the person, by document; the server announces changes of them. */
import { useMemo } from 'react'
import { create } from 'zustand'
import type { DocumentLine } from '../wire/generated.ts'

type Counts = Readonly<Record<string, number>>

export const useMentions = create<{ counts: Counts }>()(() => ({ counts: {} }))

/** The list of documents has all of them. */
export function noteMentions(documents: readonly Pick<DocumentLine, 'id' | 'mentions'>[]): void {
  const counts = Object.fromEntries(documents.map(({ id, mentions }) => [id, mentions]))
  useMentions.setState({ counts })
}

export const noteMentionsIn = (documentId: string, mentions: number): void =>
  useMentions.setState(({ counts }) => ({ counts: { ...counts, [documentId]: mentions } }))

/** Selects the number of mentions in all documents that are known. */
export function useMentionCount(): number {
  const { counts } = useMentions()
  return useMemo(() => Object.values(counts).reduce((sum, count) => sum + count, 0), [counts])
}

/** "Mentions you", "3 mentions of you". */
export const mentionWords = (count: number): string =>
  count === 1 ? 'Mentions you' : `${count} mentions of you`
