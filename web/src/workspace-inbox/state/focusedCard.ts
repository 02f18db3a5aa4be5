/** Which card a person is at: its countdown stands still, and only that one's. Pure. */

/**
 * A sign of attention: the keyboard is in a card, the pointer rests on it, or it came into view by
 * scrolling.
 */
export type FocusSignal =
  { by: 'focus' | 'pointer'; card: string } | { by: 'scroll'; inView: readonly string[] }

/**
 * Returns the card of a person after a sign. A person who writes in a card is there, wherever the
 * pointer lies and whatever scrolls.
 */
export function followFocus(
  at: string | null,
  sign: FocusSignal,
  waiting: readonly string[],
  writing: string | null,
): string | null {
  if (writing !== null && waiting.includes(writing)) return writing
  if (sign.by !== 'scroll') return waiting.includes(sign.card) ? sign.card : at
  if (at !== null && sign.inView.includes(at)) return at
  return waiting.find((card) => sign.inView.includes(card)) ?? at
}

/**
 * Returns the card of a person once the cards are others: the same one; if that is gone the one
 * that follows it, or the last.
 */
export function stay(
  at: string | null,
  before: readonly string[],
  waiting: readonly string[],
): string | null {
  if (at !== null && waiting.includes(at)) return at
  const place = at === null ? 0 : Math.max(0, before.indexOf(at))
  const next = before.slice(place).find((card) => waiting.includes(card))
  return next ?? waiting[Math.min(place, waiting.length - 1)] ?? null
}

/** The card a step away; nothing beyond the ends. Who is at none goes to the first. */
export function step(
  at: string | null,
  by: 1 | -1,
  waiting: readonly string[],
): string | undefined {
  const place = at === null ? -1 : waiting.indexOf(at)
  return place < 0 ? waiting[0] : waiting[place + by]
}
