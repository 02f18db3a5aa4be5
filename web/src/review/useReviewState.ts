/** Selects from the changes in the text, as they were last published. */
import { useShallow } from 'zustand/react/shallow'
import { useDocument } from '../editor/store.ts'
import { type ReviewState, reviewIn } from './changes/reviewField.ts'

export function useReviewState<Selected>(select: (review: ReviewState) => Selected): Selected {
  return useDocument(useShallow(({ snapshot }) => select(reviewIn(snapshot))))
}
