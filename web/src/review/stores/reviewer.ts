/** The person who reviews, with the role that they have. */
import type { Reviewer } from '../state/permissions.ts'
import { useSession } from '../../session/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'

/** Selects us as a reviewer of the open document. */
export function useReviewer(): Reviewer {
  const id = useSession((session) => session.me?.user.id)
  const role = useOpenDocument((state) => state.role)
  return { id, role }
}

/** Selects us as a reviewer without a document. */
export function useInboxReviewer(): Reviewer {
  const me = useSession((session) => session.me)
  return { id: me?.user.id, role: me?.role ?? 'viewer' }
}
