/** Approvals of changes that wait for more people: as the server says, in every window. */
import type { Hunk, HunkVote, ToolApprovalRequest } from '../../wire/generated.ts'
import { consentOf } from './permissions.ts'
import { isWaitingHunk } from './requests.ts'
import { listed, plural } from '../../ui/timeFormat.ts'

/**
 * Returns the votes that count as the change stands: words that were changed since have no approval
 * until they are back. Pure.
 */
export function countedVotes(
  { status, votes = [] }: Pick<Hunk, 'status' | 'votes'>,
  stands?: string,
): readonly HunkVote[] {
  if (status !== 'conflict') return votes.filter(({ seen }) => seen === undefined)
  return votes.filter(({ seen }) => seen !== undefined && (stands === undefined || seen === stands))
}

/** Counts open changes with an approval, and open changes. Pure. */
export function votedOf(requests: readonly Pick<ToolApprovalRequest, 'hunks'>[]): {
  voted: number
  open: number
} {
  const open = requests.flatMap(({ hunks }) => hunks.filter(isWaitingHunk))
  return { voted: open.filter((hunk) => countedVotes(hunk).length > 0).length, open: open.length }
}

type Needed = Pick<ToolApprovalRequest, 'policies' | 'approvals'>

const NUMBERS: Record<number, string> = { 1: 'one', 2: 'two', 3: 'three' }

/** "one more person", "two more owners". */
function people(count: number, { policies }: Needed): string {
  const [one, many] = policies.includes('owner') ? ['owner', 'owners'] : ['person', 'people']
  return `${NUMBERS[count] ?? count} more ${count === 1 ? one : many}`
}

/** "two approvals", "two owners’ approvals". */
function approvalsOf(count: number, { policies }: Needed): string {
  const whose = policies.includes('owner') ? ' owners’' : ''
  return `${NUMBERS[count] ?? count}${whose} approvals`
}

const namesOf = (votes: readonly HunkVote[], me: string | undefined): string[] =>
  votes.map(({ user, name }) => (user === me ? 'you' : name))

/** Votes count together only for the same words: those for the most wanted words come first. */
function byWords(votes: readonly HunkVote[]): HunkVote[][] {
  const groups = new Map<string | undefined, HunkVote[]>()
  for (const vote of votes) groups.set(vote.text, [...(groups.get(vote.text) ?? []), vote])
  return [...groups.values()].sort((one, other) => other.length - one.length)
}

/** "Approved by Ana", for a badge; nothing without an approval. */
export function approvedBy(votes: readonly HunkVote[], me: string | undefined): string {
  const [most = []] = byWords(votes)
  return most.length === 0 ? '' : `Approved by ${listed(namesOf(most, me), 'and')}`
}

/**
 * "Approved by Ana, one more person needed."; "Needs an owner." where we cannot decide; nothing
 * where anybody decides alone.
 */
export function votesWords(
  votes: readonly HunkVote[],
  needed: Needed,
  me: string | undefined,
  decides = true,
): string {
  const { need } = needed.approvals
  const groups = byWords(votes)
  if (groups.length === 0) return waitsFor(needed, decides)
  return groups
    .map((group) => {
      const words = group[0]?.text
      const names = listed(namesOf(group, me), 'and')
      const more = `${people(Math.max(need - group.length, 1), needed)} needed.`
      return words === undefined
        ? `Approved by ${names}, ${more}`
        : `Approved by ${names} with the words “${words}”, ${more}`
    })
    .join(' ')
}

function waitsFor(needed: Needed, decides: boolean): string {
  const { policies, approvals } = needed
  if (approvals.need > 1) return `Needs ${approvalsOf(approvals.need, needed)}.`
  if (decides) return ''
  if (policies.includes('owner')) return 'Needs an owner.'
  return policies.includes('not_requester') ? 'Needs somebody else.' : ''
}

/** "1 of 2 approvals"; "An owner decides" where one person is enough. */
export const votesOf = (votes: readonly HunkVote[], needed: Needed): string =>
  consentOf({
    ...needed,
    approvals: { ...needed.approvals, have: byWords(votes)[0]?.length ?? 0 },
  }).at(-1) ?? ''

/** "2 of 7 changes have an approval and wait for more."; nothing without an approval. */
export function votedCount({ voted, open }: { voted: number; open: number }): string {
  if (voted === 0) return ''
  return `${voted} of ${plural(open, 'change')} ${voted === 1 ? 'has' : 'have'} an approval and ${voted === 1 ? 'waits' : 'wait'} for more.`
}
