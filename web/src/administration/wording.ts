/** Looking after the server in words: people, money, sizes; pure. */
import { plural } from '../ui/timeFormat.ts'
import type { SpendingLine, TokenLine } from '../wire/generated.ts'

/** Somebody with all their tokens, those that still work first. */
export interface KnownPerson {
  id: string
  name: string
  tokens: TokenLine[]
  isActive: boolean
  isCurrent: boolean
}

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
    })
  }
  return [...people.values()].sort(
    (a, b) => Number(b.isActive) - Number(a.isActive) || a.name.localeCompare(b.name),
  )
}

/** "$1.25"; more digits for what is less than a cent. */
export function dollars(usd: number): string {
  const digits = usd > 0 && usd < 0.01 ? 6 : 2
  const text = usd.toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  })
  return text
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

/** What is beside the sum: calls, and what was not counted. */
export function callWords({ calls, unpricedCalls }: SpendingLine): string {
  const all = plural(calls, 'call')
  return unpricedCalls === 0 ? all : `${all}, ${unpricedCalls} without a known price`
}

/** The limit that somebody typed; `undefined` if it is none. */
export function readLimit(text: string): number | undefined {
  const typed = text.trim().replace(/^\$/, '')
  if (!/^\d+(\.\d+)?$/.test(typed)) return undefined
  const usd = Number(typed)
  return usd <= 1_000_000 ? usd : undefined
}
