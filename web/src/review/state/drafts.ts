/** Words that a person has half written about requests, by what they are for. Pure. */

export interface Orphan {
  id: string
  text: string
  why: string
}

export interface Drafts {
  /**
   * By what they are for ({@link draftOf}), as far as something else than the proposal was written.
   */
  written: Readonly<Record<string, string>>
  /** Drafts whose change or request was decided otherwise: they can only be copied or forgotten. */
  orphans: readonly Orphan[]
}

export const NO_DRAFTS: Drafts = { written: {}, orphans: [] }

/**
 * The kind of words: in a text, why something is rejected, a note beside an approval, an answer
 * instead of running a tool, a field of its input.
 */
export type Kind = 'edit' | 'reason' | 'note' | 'answer' | 'input'

/** Stands for all suggestions, in the names of what is written about them. */
export const ALL_REQUESTS = 'all'

/**
 * The name of what is written about a change or a request; the words for a change go by its own.
 */
export function draftOf(about: string, kind: Kind, field = ''): string {
  return kind === 'edit' ? about : [about, kind, field].filter(Boolean).join(' ')
}
