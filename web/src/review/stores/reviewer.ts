/** The person who reviews, with the role that they have. */
import type { Reviewer } from '../state/permissions.ts'
import { useSession } from '../../session/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'

/** Who we are in the open document. */
export function useReviewer(): Reviewer {
  const id = useSession((session) => session.me?.user.id)
  const role = useOpenDocument((state) => state.role)
  return { id, role }
}

/** Who we are where there is no document. */
export function useInboxReviewer(): Reviewer {
  const me = useSession((session) => session.me)
  return { id: me?.user.id, role: me?.role ?? 'viewer' }
}
