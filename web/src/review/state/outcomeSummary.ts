/** The outcome of a change, in words. Pure. */
import { whoseRule } from './whoseRule.ts'
import type { ToolApprovalRequest, Hunk, HunkDecided } from '../../wire/generated.ts'
import { clockTime, listed, plural } from '../../ui/timeFormat.ts'
import { type SnippetPiece } from './snippet.ts'
import { tally } from './requests.ts'

const DONE: Partial<Record<Hunk['status'], string>> = {
  accepted: 'Accepted',
  rejected: 'Rejected',
  expired: 'Expired before anybody decided',
  obsolete: 'Its words are gone',
}

/**
 * "Accepted by Bo, 14:02", "Accepted by your rule, 14:02"; nothing while it waits. `me` is who
 * reads it.
 */
export function describeHunkOutcome({ status, decided }: Hunk, me?: string): string {
  const done = DONE[status]
  if (!done) return ''
  if (!decided || (status !== 'accepted' && status !== 'rejected')) return done
  const edited = decided.text === undefined ? '' : ' with edits'
  return `${done}${edited} by ${nameOf(decided, me)}, ${clockTime(decided.at)}`
}

/** The name of the person who decided, or the rule that a person had made before. */
const nameOf = ({ by, rule }: HunkDecided, me: string | undefined): string =>
  rule === undefined ? by.name : whoseRule(by, me)

/** A decided change as it was, without the words around it: those may be others by now. */
export function decidedHunkText({ parts, status, decided }: Hunk): SnippetPiece[] {
  const own = status === 'accepted' ? decided?.text : undefined
  const gone = (text: string): SnippetPiece => ({ kind: 'gone', text })
  if (own !== undefined)
    return [
      gone(
        parts
          .map((part) => part.base)
          .filter(Boolean)
          .join(' … '),
      ),
      { kind: 'new' as const, text: own },
    ].filter(({ text }) => text !== '')
  return parts.flatMap((part, index): SnippetPiece[] => [
    ...(index > 0 ? [{ kind: 'same' as const, text: ' … ' }] : []),
    ...(part.base ? [gone(part.base)] : []),
    ...(part.insert ? [{ kind: 'new' as const, text: part.insert }] : []),
  ])
}

const ENDED: Partial<Record<ToolApprovalRequest['status'], string>> = {
  approved: 'Accepted',
  rejected: 'Rejected',
  cancelled: 'Cancelled',
  failed: 'Could not be applied',
  expired: 'Expired before anybody decided',
}

/**
 * "4 changes: 2 accepted, 1 rejected by Ana and Bo, 1 expired": how a request stands or ended, and
 * who had a hand in it.
 */
export function outcomeSummary(
  { hunks, status, by, source, rule = null, unasked = null }: ToolApprovalRequest,
  me?: string,
): string {
  if (source === 'person' && status === 'cancelled') return `Withdrawn${by ? ` by ${by.name}` : ''}`
  const { accepted, rejected, expired, obsolete } = tally(hunks)
  const decided = [accepted && `${accepted} accepted`, rejected && `${rejected} rejected`].filter(
    Boolean,
  )
  const lost = [
    expired && `${expired} expired`,
    obsolete && `${obsolete} gone with ${obsolete === 1 ? 'its' : 'their'} words`,
  ].filter(Boolean)
  const [only] = hunks
  const single = hunks.length === 1 && only ? (DONE[only.status] ?? status) : null
  const several = single === null && decided.length + lost.length > 0
  const what =
    single ??
    (several
      ? `${plural(hunks.length, 'change')}: ${decided.join(', ')}`
      : (ENDED[status] ?? status))
  // Without a decision there is no name to give.
  const rest = several ? lost.join(', ') : ''
  const withRest = (words: string) =>
    [words, rest].filter(Boolean).join(decided.length > 0 ? ', ' : '')
  // No person decided it, and the reason is said beside it.
  if (unasked !== null) return withRest(what)
  // Whose rule it was is said beside it; its maker did not decide this.
  const decisions = hunks.flatMap(({ decided }) =>
    decided && !(decided.rule !== undefined && decided.rule === rule) ? [decided] : [],
  )
  const names =
    decisions.length > 0 ? deciders(decisions, me) : by && rule === null ? [by.name] : []
  const named = !several || decided.length > 0 ? names : []
  return withRest(named.length > 0 ? `${what} by ${listed(named, 'and')}` : what)
}

/** Everybody who decided, each once and by the newest name, in the order of the changes. */
function deciders(decisions: readonly HunkDecided[], me: string | undefined): string[] {
  return [
    ...new Map(
      decisions.map((decided) => {
        const name = nameOf(decided, me)
        return [decided.by.id + (decided.rule === undefined ? '' : name), name]
      }),
    ).values(),
  ]
}
