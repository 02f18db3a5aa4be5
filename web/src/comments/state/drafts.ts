/** Comments that are not sent yet, one for each place. Pure. */
import type { Range } from '../../wire/generated.ts'

/** Subject of a comment: a passage, a change, a thread or the document. */
export type Place =
  | { on: 'document' }
  | { on: 'passage'; range: Range; quote: string }
  | { on: 'change'; request_id: string; hunk_id: string; quote: string }
  | { on: 'thread'; threadId: string }
  | { on: 'comment'; threadId: string; commentId: string }

export interface Draft {
  place: Place
  text: string
  /** Identifiers of the people who were picked from the list of names. */
  picked: readonly string[]
  /** Writer, as several people may use a browser. */
  by: string
  /** Reason why it could not be sent. */
  failed?: string
}

export type Drafts = Readonly<Record<string, Draft>>

/** A passage is known by its words: its place moves. */
export function keyOf(place: Place): string {
  switch (place.on) {
    case 'document':
      return 'document'
    case 'passage':
      return `passage ${place.quote}`
    case 'change':
      return `change ${place.hunk_id}`
    case 'thread':
      return `thread ${place.threadId}`
    case 'comment':
      return `comment ${place.commentId}`
  }
}

/** With a draft as it is now; without it once nothing is written. */
export function withDraft(drafts: Drafts, draft: Draft): Drafts {
  const key = keyOf(draft.place)
  const others = Object.fromEntries(Object.entries(drafts).filter(([other]) => other !== key))
  return draft.text.trim() === '' ? others : { ...others, [key]: draft }
}

/** Drafts about what has no thread yet, in the order of the text. */
export const draftsOfNewThreads = (drafts: Drafts): Draft[] =>
  Object.values(drafts)
    .filter(({ place }) => place.on !== 'thread' && place.on !== 'comment')
    .toSorted((a, b) => startOf(a.place) - startOf(b.place))

const startOf = (place: Place): number => (place.on === 'passage' ? place.range.from : -1)

/**
 * Returns where the words of a draft stand in the text: where they were, else the nearest place
 * with the same words; `null`: they are not there any more.
 */
export function findQuote(text: string, quote: string, near: number): Range | null {
  let best: number | null = null
  for (let at = text.indexOf(quote); quote !== '' && at >= 0; at = text.indexOf(quote, at + 1))
    if (best === null || Math.abs(at - near) < Math.abs(best - near)) best = at
  return best === null ? null : { from: best, to: best + quote.length }
}

/** Reads what the browser kept; what does not make sense is left out. */
export function readDrafts(kept: string | null, by: string): Drafts {
  try {
    const all = Object.values((JSON.parse(kept ?? '{}') ?? {}) as Record<string, Draft>)
    const mine = all.filter((draft) => draft.by === by && typeof draft.text === 'string')
    return Object.fromEntries(mine.map((draft) => [keyOf(draft.place), draft]))
  } catch {
    return {}
  }
}
