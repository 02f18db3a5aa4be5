/** Selects from the changes in the text, as they were last published. */
import { useShallow } from 'zustand/react/shallow'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { type ReviewState, reviewIn } from '../text/reviewField.ts'

export function useReviewState<Selected>(select: (review: ReviewState) => Selected): Selected {
  return useOpenDocument(useShallow(({ snapshot }) => select(reviewIn(snapshot))))
}
