/**
 * Rights to decide a suggestion, by all policies that hold for it; the server has the last word.
 */
import type { Approvals, Hunk, ToolApprovalRequest, Person, Role } from '../../wire/generated.ts'
import { canDecide, canWrite } from '../../session/roles.ts'

export interface Reviewer {
  id: string | undefined
  role: Role
}

/**
 * Returns whether a person may put in words of their own: an edit, another input, another plan. A
 * reviewer decides and does not type.
 */
export const mayType = ({ role }: Reviewer): boolean => canWrite(role)

/** The facts about a request that say who may decide it. */
type Matter = Pick<ToolApprovalRequest, 'policies' | 'author'> &
  Partial<Pick<ToolApprovalRequest, 'document_id' | 'preview_type' | 'source'>>

/**
 * Returns why a person whose role would let them decide has to leave it to others; `null`: they
 * need not.
 */
export function reasonCannotDecide(
  { policies, author, document_id, preview_type, source }: Matter,
  { id, role }: Reviewer,
): string | null {
  if (!canDecide(role)) return null
  if (source === 'person' && author.id === id && !canWrite(role))
    return 'This is your own suggestion, so somebody else decides it.'
  if (preview_type === 'command' && role !== 'owner') return 'Only an owner decides about commands.'
  if (policies.includes('owner') && role !== 'owner')
    return `Only an owner decides this ${document_id === null ? 'request' : 'suggestion'}.`
  if (policies.includes('not_requester') && author.id === id)
    return 'You asked for this, so somebody else decides it.'
  return null
}

/**
 * The request with the policies of one of its changes, where the marks of that ask for more people.
 */
export function neededFor<
  Asked extends Pick<ToolApprovalRequest, 'policies' | 'approvals' | 'hunks'>,
>(request: Asked, { id }: Pick<Hunk, 'id'>): Asked {
  const { policies, approvals } = request.hunks.find((hunk) => hunk.id === id) ?? {}
  if (!policies && !approvals) return request
  return {
    ...request,
    policies: policies ?? request.policies,
    approvals: approvals ?? request.approvals,
  }
}

/** Number of open changes that have an approval. */
interface Votes {
  voted: number
  open: number
}

const WHO_DECIDES: Record<string, string> = {
  not_requester: 'Somebody else decides',
  two: 'Two approvals',
  owner: 'An owner decides',
}

/**
 * Returns the people who decide, if not every reviewer may, and the number of approvals of those
 * needed.
 */
export function consentOf(
  { policies, approvals }: Pick<ToolApprovalRequest, 'policies' | 'approvals'>,
  votes: Votes = { voted: 0, open: 0 },
): string[] {
  const who = policies
    .filter((policy) => policy !== 'any')
    .map((policy) => WHO_DECIDES[policy] ?? policy)
  return approvals.need > 1 ? [...who, countOf(approvals, votes)] : who
}

/**
 * Of several changes each has approvals of its own: a count for all of them would belie the rows.
 */
function countOf({ have, need }: Approvals, { voted, open }: Votes): string {
  if (open > 1 && voted > 0 && have === 0)
    return `${voted} of ${open} ${voted === 1 ? 'has' : 'have'} one`
  return `${have} of ${need} approvals`
}

/** Returns the words for a person whose approval is not the last that is needed. */
export function votedWords({ have, need }: Approvals, what = 'it'): string {
  return `You approved ${what}. ${stillNeeded(need - Math.max(have, 1))}`
}

const stillNeeded = (more: number): string =>
  more === 1 ? 'One more approval needed.' : `${more} more approvals needed.`

/** The others who look, each once, in however many tabs they do. */
export function onlookers(viewers: readonly Person[], me: string | undefined): string[] {
  const others = viewers.filter((person) => person.id !== me)
  return [...new Map(others.map(({ id, name }) => [id + name, name])).values()]
}

/**
 * Returns whether a person may have a request made again as their own: they could ask for it, and
 * have a part in it.
 */
export const mayAskAgain = (request: Matter, reviewer: Reviewer): boolean =>
  canWrite(reviewer.role) && (request.author.id === reviewer.id || mayDecide(request, reviewer))

export const mayDecide = (request: Matter, reviewer: Reviewer): boolean =>
  canDecide(reviewer.role) && reasonCannotDecide(request, reviewer) === null
