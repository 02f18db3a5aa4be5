/**
 * "Who wrote this": whether it is shown, who has a part in the text, and who wrote what stands at
 * the caret.
 */
import { create } from 'zustand'
import type { ProvenanceSpan } from '../wire/generated.ts'
import type { AuthorShare } from './wording.ts'

interface AuthorsState {
  on: boolean
  /** The authors of the text, the largest part first. */
  parts: readonly AuthorShare[]
  /** The author at the caret. */
  here: ProvenanceSpan | null
}

const OFF: AuthorsState = { on: false, parts: [], here: null }
export const useAuthors = create<AuthorsState>()(() => OFF)

/** Another document: nothing is shown until it is asked for. */
export function forgetAuthors(): void {
  useAuthors.setState(OFF)
}

export function toggleAuthors(): void {
  useAuthors.setState(({ on }) => (on ? OFF : { on: true }))
}
