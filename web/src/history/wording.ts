/** Names of authors in words, and the size of their parts in the text. Pure. */
import { allowed } from '../rules/wording.ts'
import type { Person, ProvenanceSpan } from '../wire/generated.ts'

/** An author with a part in the text. */
export interface AuthorShare {
  key: string
  /** As the legend calls it. */
  name: string
  /** The look: `ai`, `beginning`, or `0`, `1`, … for people. */
  look: string
  /** UTF-16 units. */
  units: number
}

/** People's suggested words are as much theirs as those they wrote. */
const isPersons = (kind: ProvenanceSpan['kind']): boolean =>
  kind === 'person' || kind === 'suggestion'

/**
 * Words of the AI are one part, and words that people edited before they accepted them another, for
 * all people together: the person who asked is named at the caret.
 */
export const keyOf = ({ kind, author, claimedAuthor, edited }: ProvenanceSpan): string =>
  isPersons(kind)
    ? `person ${author.id}`
    : kind === 'import'
      ? `import ${claimedAuthor ?? ''}`
      : edited
        ? `${kind} edited`
        : kind

/** The people who have a part, as the AI has. */
export const peopleIn = (spans: readonly ProvenanceSpan[]): Person[] =>
  spans.filter(({ kind }) => isPersons(kind)).map(({ author }) => author)

/** The largest part first; people look as they do elsewhere. */
export function authorShares(
  spans: readonly ProvenanceSpan[],
  lookOf: (person: Person) => number,
): AuthorShare[] {
  const parts = new Map<string, AuthorShare>()
  for (const span of spans) {
    const key = keyOf(span)
    const known = parts.get(key)
    if (known) known.units += span.to - span.from
    else
      parts.set(key, {
        key,
        name: nameOf(span),
        look: isPersons(span.kind)
          ? String(lookOf(span.author))
          : span.kind === 'import'
            ? String(lookOf({ id: key, name: nameOf(span) }))
            : span.kind,
        units: span.to - span.from,
      })
  }
  return [...parts.values()].toSorted((a, b) => b.units - a.units)
}

function nameOf({ kind, author, claimedAuthor, edited }: ProvenanceSpan): string {
  switch (kind) {
    case 'person':
    case 'suggestion':
      return author.name
    case 'ai':
      return edited ? 'AI, edited by people' : 'AI, accepted'
    case 'import':
      return `${claimedAuthor ?? author.name} in Word`
    case 'beginning':
      return 'Original text'
  }
}

/**
 * "AI, asked by Ana · accepted by Bo · 14:03 · request …4f2a"; where a rule accepted, which and
 * whose.
 */
export function credit(span: ProvenanceSpan, now: number): string {
  const when = moment(span.at, now)
  switch (span.kind) {
    case 'person':
      return `${span.author.name} · ${when}`
    case 'beginning':
      return `Original text by ${span.author.name} · ${when}`
    case 'ai':
    case 'import':
    case 'suggestion':
      return [
        span.kind === 'ai' ? `AI, asked by ${span.author.name}` : nameOf(span),
        approval(span),
        when,
        ...(span.request ? [`request …${span.request.slice(-4)}`] : []),
      ].join(' · ')
  }
}

function approval({ approver, rule, edited }: ProvenanceSpan): string {
  if (!approver) return 'applied without asking'
  if (rule) return `accepted by ${rule.by.name}’s rule (${allowed(rule.tool, rule.remember)})`
  return edited ? `edited and accepted by ${approver.name}` : `accepted by ${approver.name}`
}

/** "14:03", "3 Nov, 14:03", "3 Nov 2025, 14:03". */
export function moment(at: string, now: number): string {
  const then = new Date(at)
  if (Number.isNaN(then.getTime())) return ''
  const today = new Date(now)
  const time = then.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
  if (then.toDateString() === today.toDateString()) return time
  const year = then.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' as const }
  return `${then.toLocaleDateString([], { day: 'numeric', month: 'short', ...year })}, ${time}`
}

/** "62 %", "< 1 %". */
export function share(units: number, all: number): string {
  const percent = (100 * units) / Math.max(1, all)
  return percent < 1 ? '< 1 %' : `${Math.round(percent)} %`
}
