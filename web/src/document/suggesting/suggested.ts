/**
 * A text with one's own suggestion in it: the server's text, the suggestion that the server has,
 * and what is typed since. Pure.
 */
import { ChangeSet, type ChangeSpec, type Text } from '@codemirror/state'
import { wordDiff } from '../../text/wordDiff.ts'
import type { Hunk } from '../../wire/generated.ts'

export interface Suggested {
  /** The server's text. */
  doc: Text
  /** From there to the text with the suggestion that the server has. */
  own: ChangeSet
  /** Changes since, one over the other. The first of them is on its way while there is `sent`. */
  typed: readonly ChangeSet[]
  /** The suggestion that is on its way, over the server's text as it is now. */
  sent: ChangeSet | null
}

export const nothingSuggested = (doc: Text): Suggested => ({
  doc,
  own: ChangeSet.empty(doc.length),
  typed: [],
  sent: null,
})

/** From the server's text to the one that is shown. */
export const wholeSuggestion = ({ own, typed }: Suggested): ChangeSet =>
  typed.reduce((all, changes) => all.compose(changes), own)

/** With one more change of the person's. */
export function withTyped(now: Suggested, changes: ChangeSet): Suggested {
  const { typed, sent } = now
  const kept = sent ? 1 : 0
  const last = typed[kept]
  return { ...now, typed: [...typed.slice(0, kept), last ? last.compose(changes) : changes] }
}

/** With everything typed on its way. */
export const sending = (now: Suggested): Suggested => ({
  ...notSent(now),
  sent: wholeSuggestion(now),
})

/** With nothing on its way: the server has refused it, or may not have heard it. */
export function notSent(now: Suggested): Suggested {
  const [first, ...rest] = now.typed
  const typed = first ? [rest.reduce((all, changes) => all.compose(changes), first)] : []
  return { ...now, typed, sent: null }
}

/**
 * The suggestion as changes of the text. Hunks in conflict are no part of it: they are drawn beside
 * it, like those of others. `hunks`: those that insert at one place in their order.
 */
export function changesOf(hunks: readonly Hunk[], doc: Text): ChangeSet {
  const parts = hunks
    .filter(({ status }) => status === 'pending')
    .flatMap((hunk) => hunk.parts)
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
  return ChangeSet.of(
    parts.map(({ from, to, insert }) => ({ from, to, insert })),
    doc.length,
  )
}

export interface Followed {
  next: Suggested
  /** The changes of the text that is shown. */
  changes: ChangeSet
}

/**
 * Goes along with the server: updates of its text, and the hunks of the suggestion after them.
 * `answer` to what was sent: the server has taken it, or it has not, or may not have heard it. Its
 * broadcast comes before, and is known by its words.
 */
export function follow(
  now: Suggested,
  updates: readonly ChangeSet[],
  hunks: readonly Hunk[],
  answer?: 'taken' | 'not taken',
): Followed {
  const doc = updates.reduce((text, update) => update.apply(text), now.doc)
  const own = changesOf(hunks, doc)
  const sent = now.sent && updates.reduce((mine, update) => mine.map(update), now.sent)
  const isThere = sent !== null && (answer === 'taken' || sent.apply(doc).eq(own.apply(doc)))
  // Whether this is what was sent is known with the answer, which comes soon.
  if (sent && !isThere && !answer && updates.length === 0)
    return { next: now, changes: ChangeSet.empty(wholeSuggestion(now).newLength) }
  const [first, ...rest] = now.typed
  const known = isThere && first ? now.own.compose(first) : now.own
  let step = transition(known, now.doc, [...updates, own])
  const typed = (isThere ? rest : now.typed).map((changes) => {
    const mapped = changes.map(step)
    step = step.map(changes, true)
    return mapped
  })
  const next = { doc, own, typed, sent: isThere ? null : sent }
  return { next: answer === 'not taken' ? notSent(next) : next, changes: step }
}

/** Without the suggestion: the server's text is shown. */
export const withoutSuggestion = (now: Suggested): ChangeSet =>
  transition(wholeSuggestion(now), now.doc, [])

/** Takes a suggestion out of a text and makes other changes; what stays the same is left alone. */
export function transition(before: ChangeSet, doc: Text, changes: readonly ChangeSet[]): ChangeSet {
  const all = changes.reduce((sum, next) => sum.compose(next), before.invert(doc))
  return minimal(all, before.apply(doc))
}

/** Changes with fewer units between them are one: the same words may be put in beside a place. */
const BETWEEN = 60

/** The same, without words that go and come again: carets and typing stay in their places. */
function minimal(changes: ChangeSet, before: Text): ChangeSet {
  const after = changes.apply(before)
  const needed: ChangeSpec[] = []
  if (!after.eq(before))
    for (const { from, to, fromB, toB } of regions(changes))
      needed.push(...differences(from, before.sliceString(from, to), after.sliceString(fromB, toB)))
  return ChangeSet.of(needed, changes.length)
}

interface Region {
  from: number
  to: number
  fromB: number
  toB: number
}

function regions(changes: ChangeSet): Region[] {
  const found: Region[] = []
  changes.iterChangedRanges((from, to, fromB, toB) => {
    const last = found.at(-1)
    if (last && from - last.to < BETWEEN) Object.assign(last, { to, toB })
    else found.push({ from, to, fromB, toB })
  })
  return found
}

function differences(from: number, gone: string, put: string): ChangeSpec[] {
  const most = Math.min(gone.length, put.length)
  let head = 0
  while (head < most && gone[head] === put[head]) head += 1
  let tail = 0
  while (tail < most - head && gone.at(-1 - tail) === put.at(-1 - tail)) tail += 1
  const [old, now] = [gone.slice(head, gone.length - tail), put.slice(head, put.length - tail)]
  const specs: ChangeSpec[] = []
  let at = from + head
  for (const { kind, text } of wordDiff(old, now)) {
    if (kind === 'new') specs.push({ from: at, insert: text })
    else at += text.length
    if (kind === 'gone') specs.push({ from: at - text.length, to: at })
  }
  return specs
}

/** A hunk of others in the text that is shown: over one's own suggestion it stays as it is. */
export function shownHunk(hunk: Hunk, local: readonly ChangeSet[]): Hunk {
  const place = (at: number, side: -1 | 1) =>
    local.reduce((pos, changes) => changes.mapPos(pos, side), at)
  const parts = hunk.parts.map((part) => {
    const from = place(part.from, 1)
    return { ...part, from, to: Math.max(from, place(part.to, part.from < part.to ? -1 : 1)) }
  })
  return { ...hunk, parts }
}
