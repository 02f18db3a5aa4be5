/** The people who changed words after the AI had read them, in words. Pure. */
import { moment } from '../../../history/wording.ts'
import type { Person, ProvenanceSpan } from '../../../wire/generated.ts'

/**
 * "Bo changed this at 23:02."; nothing where that is not known: words may have been deleted, and
 * what was written within the minute in which the AI read cannot be ordered. Pure.
 */
export function changedByWords(
  spans: readonly ProvenanceSpan[],
  since: string,
  me: Pick<Person, 'id' | 'name'> | undefined,
  now: number,
): string | null {
  const later = spans.filter(({ at }) => Date.parse(at) >= Date.parse(since))
  const last = later.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).at(-1)
  if (!last) return null
  // Two people may share an account: then their names tell them apart.
  const isMe = last.author.id === me?.id && last.author.name === me.name
  const who = isMe ? 'You' : last.author.name
  return `${who} changed this at ${moment(last.at, now)}.`
}
