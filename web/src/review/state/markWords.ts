/** Changes of meaning in the words of lists, badges and settings. Pure. */
import { listed } from '../../ui/timeFormat.ts'
import type { Hunk, ToolPolicy } from '../../wire/generated.ts'
import {
  type Arrangement,
  isShown,
  KINDS,
  kindsOf,
  type Mark,
  type MarkKind,
  shorten,
} from './marks.ts'

/** "numbers" */
export const severalOf = (kind: MarkKind): string => KINDS[kind][2]

/** "number, name": the sign of a change in the list; nothing without marks. */
export const signOf = ({ marks }: Pick<Hunk, 'marks'>): string =>
  kindsOf(marks)
    .map((kind) => KINDS[kind][0])
    .join(', ')

/** "number: 12 → 21", "name gone: Smith", "new date: 12 March" */
export function markWords({ kind, was, now }: Mark): string {
  const [name] = KINDS[kind]
  if (was === '') return `new ${name}: ${shorten(now)}`
  return now === '' ? `${name} gone: ${shorten(was)}` : `${name}: ${shorten(was)} → ${shorten(now)}`
}

/**
 * "because it changes a number": why a change needs more people than its request; of its kinds,
 * those that a policy names.
 */
export function becauseOf({ marks }: Pick<Hunk, 'marks'>, policies: readonly ToolPolicy[]): string {
  const kinds = kindsOf(marks)
  const named = kinds.filter((kind) => policies.some((policy) => policy.marks?.includes(kind)))
  const meant = named.length > 0 ? named : kinds
  return meant.length === 0
    ? ''
    : `because it changes ${listed(
        meant.map((kind) => KINDS[kind][1]),
        'and',
      )}`
}

/** Choices for a list, with the number of changes of each. */
export function showChoices(hunks: readonly Hunk[]): (readonly [Arrangement['show'], string])[] {
  const count = (show: Arrangement['show']) => hunks.filter((hunk) => isShown(hunk, show)).length
  const kinds = kindsOf(hunks.flatMap(({ marks = [] }) => marks))
  return [
    ['all', `All changes (${count('all')})`],
    ['marked', `Changes of meaning (${count('marked')})`],
    ...kinds.map((kind) => [kind, `${severalOf(kind)} (${count(kind)})`] as const),
  ]
}
