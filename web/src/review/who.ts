/** Who may decide a suggestion, by all policies that hold for it; the server has the last word. */
import { canDecide, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import type { ApprovalRequest, Person, Role } from '../wire/types.ts'

export interface Reviewer { id: string | undefined; role: Role }

/** Who we are in the open document. */
export function useReviewer(): Reviewer {
  const id = useSession((session) => session.me?.user.id)
  const role = useDocument((state) => state.role)
  return { id, role }
}

/** Why somebody whose role would let them decide has to leave it to others; `null`: they need not. */
export function heldBack({ policies, author }: Pick<ApprovalRequest, 'policies' | 'author'>, { id, role }: Reviewer): string | null {
  if (!canDecide(role)) return null
  if (policies.includes('owner') && role !== 'owner') return 'Only an owner decides this suggestion.'
  if (policies.includes('not_requester') && author.id === id) return 'You asked for this, so somebody else decides it.'
  return null
}

/** The others who look, each once, in however many tabs they do. */
export function onlookers(focus: readonly Person[], me: string | undefined): string[] {
  const others = focus.filter((person) => person.id !== me)
  return [...new Map(others.map(({ id, name }) => [id + name, name])).values()]
}

export const mayDecide = (request: Pick<ApprovalRequest, 'policies' | 'author'>, reviewer: Reviewer): boolean => canDecide(reviewer.role) && heldBack(request, reviewer) === null
