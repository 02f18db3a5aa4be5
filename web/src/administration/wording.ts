/** Looking after the server in words: people, money, sizes; pure. */
import { plural } from '../ui/timeFormat.ts'
import type { PersonPreview, SpendingLine, TokenLine } from '../wire/generated.ts'

/** A person with all their tokens, those that still work first. */
export interface KnownPerson {
  id: string
  name: string
  tokens: TokenLine[]
  isActive: boolean
  isCurrent: boolean
  /** Their data was deleted, and only the neutral name is left. */
  isDeleted: boolean
}

/** Name of everybody whose data was deleted. */
const DELETED = 'Deleted person'

/** Everybody who has or had a token: those who can come in first, in the order of their names. */
export function peopleOf(tokens: readonly TokenLine[]): KnownPerson[] {
  const people = new Map<string, KnownPerson>()
  for (const token of tokens) {
    const known = people.get(token.user)
    const isActive = token.status === 'active'
    people.set(token.user, {
      id: token.user,
      // Tokens come oldest first, and the newest has the name.
      name: token.name,
      tokens: [...(known?.tokens ?? []), token].sort(
        (a, b) => Number(b.status === 'active') - Number(a.status === 'active'),
      ),
      isActive: isActive || (known?.isActive ?? false),
      isCurrent: token.current || (known?.isCurrent ?? false),
      isDeleted: token.name === DELETED && !isActive && !(known?.isActive ?? false),
    })
  }
  return [...people.values()].sort(
    (a, b) => Number(b.isActive) - Number(a.isActive) || a.name.localeCompare(b.name),
  )
}

/** "$1.25"; more digits for what is less than a cent. */
export function dollars(usd: number): string {
  const digits = usd > 0 && usd < 0.01 ? 6 : 2
  return usd.toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  })
}

/** "12.3 MB". */
export function byteSize(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  const digits = unit === 0 || size >= 100 ? 0 : 1
  return `${size.toLocaleString('en-US', { maximumFractionDigits: digits })} ${units[unit]}`
}

/** "November 2026". */
export function monthName(month: string): string {
  const first = new Date(`${month}-01T00:00:00Z`)
  return first.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

/** "$1.25 of $20.00", with the limit that holds. */
export function spentOf(usd: number, limit: number | null): string {
  return limit === null ? dollars(usd) : `${dollars(usd)} of ${dollars(limit)}`
}

/** Facts beside the sum: calls, and what was not counted. */
export function callWords({ calls, unpricedCalls }: SpendingLine): string {
  const all = plural(calls, 'call')
  return unpricedCalls === 0 ? all : `${all}, ${unpricedCalls} without a known price`
}

/** The limit that a person typed; `undefined` if it is none. */
export function readLimit(text: string): number | undefined {
  const typed = text.trim().replace(/^\$/, '')
  if (!/^\d+(\.\d+)?$/.test(typed)) return undefined
  const usd = Number(typed)
  return usd <= 1_000_000 ? usd : undefined
}

/** Effects of deleting a person, in the order in which people want to know them. */
export function deletionWords(preview: PersonPreview): { head: string; text: string }[] {
  const { deleted, renamed, kept, unfinishedRuns, waitingRequests } = preview
  const isAny = unfinishedRuns + waitingRequests > 0
  return [
    {
      head: 'Deleted',
      text: `access, sign-in and limits; ${plural(deleted.messages, 'entry', 'entries')} of conversations with the AI`,
    },
    ...(isAny
      ? [
          {
            head: 'Stopped',
            text: `${plural(unfinishedRuns, 'question')} to the AI; ${plural(waitingRequests, 'change')} that nobody has decided`,
          },
        ]
      : []),
    {
      head: '“Deleted person” from now on',
      text: `${plural(kept.updates, 'step')} in the history of documents, ${plural(renamed.decisions, 'decision')}, ${plural(renamed.requests, 'request')}, ${plural(renamed.threads, 'thread')} of comments`,
    },
    {
      head: 'Stay as they are',
      text: `the texts of documents, what was spent, and ${plural(kept.auditLines, 'line')} of the audit log, with the name`,
    },
  ]
}
