/** Who may decide a suggestion, by the document's policy; the server has the last word. */
import { canDecide, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import type { ApprovalRequest, Person, Policy, Role } from '../wire/types.ts'

/** `policy` is the document's of today: suggestions that wait follow it. */
export interface Reviewer { id: string | undefined; role: Role; policy?: Policy | undefined }

/** Who we are in the open document. */
export function useReviewer(): Reviewer {
  const id = useSession((session) => session.me?.user.id)
  const role = useDocument((state) => state.role)
  // With policies for tools or sizes, only the suggestion itself knows which one holds for it.
  const policy = useDocument(({ settings }) => (settings && settings.policies.length === 0 ? settings.policy : undefined))
  return { id, role, policy }
}

/** Why somebody whose role would let them decide has to leave it to others; `null`: they need not. */
export function heldBack(request: Pick<ApprovalRequest, 'policy' | 'author'>, { id, role, policy = request.policy as Policy }: Reviewer): string | null {
  if (!canDecide(role)) return null
  if (policy === 'owner' && role !== 'owner') return 'Only an owner decides suggestions in this document.'
  if (policy === 'not_requester' && request.author.id === id) return 'You asked for this, so somebody else decides it.'
  return null
}

/** The others who look, each once, in however many tabs they do. */
export function onlookers(focus: readonly Person[], me: string | undefined): string[] {
  const others = focus.filter((person) => person.id !== me)
  return [...new Map(others.map(({ id, name }) => [id + name, name])).values()]
}

export const mayDecide = (request: Pick<ApprovalRequest, 'policy' | 'author'>, reviewer: Reviewer): boolean => canDecide(reviewer.role) && heldBack(request, reviewer) === null
