/** Changes of meaning: the marks that the server puts on changes, aloud and in order. Pure. */
import type { Hunk } from '../../wire/generated.ts'
import { inOrder } from './hunk.ts'

export type Mark = NonNullable<Hunk['marks']>[number]
export type MarkKind = Mark['kind']

/** A kind by itself; one of it, and several, as something that a change changes. */
type Names = readonly [name: string, one: string, several: string]

/** The kinds, from the heaviest to the lightest. */
export const KINDS: Readonly<Record<MarkKind, Names>> = {
  negation: ['“not”', 'a “not”', '“not” and “no”'],
  number: ['number', 'a number', 'numbers'],
  date: ['date', 'a date', 'dates'],
  unit: ['unit', 'a unit', 'units'],
  name: ['name', 'a name', 'names'],
  modality: ['must/may', 'a “must” or “may”', '“must” and “may”'],
  quantity: ['all/some', 'an “all” or “some”', '“all” and “some”'],
  comparison: ['more/less', 'a “more” or “less”', '“more” and “less”'],
  order: ['order', 'the order', 'the order'],
  quote: ['quotation', 'a quotation', 'quotations'],
  link: ['link', 'a link', 'links'],
  code: ['code', 'code', 'code'],
}

export const MARK_KINDS = Object.keys(KINDS) as readonly MarkKind[]

export const isMarked = ({ marks = [] }: Pick<Hunk, 'marks'>): boolean => marks.length > 0

/** The kinds of marks, each once, the heaviest first. */
export const kindsOf = (marks: readonly Mark[] = []): MarkKind[] =>
  MARK_KINDS.filter((kind) => marks.some((mark) => mark.kind === kind))

/** Long quotations and links keep their beginning. */
const LONGEST = 60
export const shorten = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`

/** "Changes a number: 12 to 21." */
export function spokenMark({ kind, was, now }: Mark): string {
  const [, one] = KINDS[kind]
  if (was === '') return `Adds ${one}: ${shorten(now)}.`
  return now === ''
    ? `Removes ${one}: ${shorten(was)}.`
    : `Changes ${one}: ${shorten(was)} to ${shorten(now)}.`
}

/** The first marks of a change in words, and how many more there are. */
export function firstOf(
  { marks = [] }: Pick<Hunk, 'marks'>,
  say: (mark: Mark) => string,
  most: number,
): string[] {
  const said = marks.slice(0, most).map(say)
  return marks.length > most ? [...said, `${marks.length - most} more`] : said
}

/** The changes that a list shows, and their order. */
export interface Arrangement {
  show: 'all' | 'marked' | MarkKind
  order: 'place' | 'kind' | 'weight' | 'person'
  /** The changes that are put off for later, which come last. */
  later: ReadonlySet<string>
  /** Returns the name of the person behind the changes of a request. */
  personOf: (request: string) => string
}

export const isShown = ({ marks = [] }: Hunk, show: Arrangement['show']): boolean =>
  show === 'all' || marks.some(({ kind }) => show === 'marked' || show === kind)

/** The choice as far as it holds: where nothing of a kind is left, all changes are shown. */
export const shownKind = (hunks: readonly Hunk[], { show }: Arrangement): Arrangement['show'] =>
  hunks.some((hunk) => isShown(hunk, show)) ? show : 'all'

const lightness = ({ marks }: Hunk): number => {
  const [heaviest] = kindsOf(marks)
  return heaviest === undefined ? MARK_KINDS.length : MARK_KINDS.indexOf(heaviest)
}

const KIND_ORDER = ['correction', 'rewrite', 'moved']
const kindAt = ({ kind = 'rewrite' }: Hunk): number => KIND_ORDER.indexOf(kind)

const ORDERS: Readonly<
  Record<Arrangement['order'], (a: Hunk, b: Hunk, list: Arrangement) => number>
> = {
  place: () => 0,
  kind: (a, b) => kindAt(a) - kindAt(b),
  weight: (a, b) => lightness(a) - lightness(b),
  person: (a, b, { personOf }) => personOf(a.request_id).localeCompare(personOf(b.request_id)),
}

/** The order of a list; of what is alike in it, what comes first in the text. */
export function comparing(list: Arrangement): typeof inOrder {
  const isLater = ({ id }: Hunk) => Number(list.later.has(id))
  return (a, b) => isLater(a) - isLater(b) || ORDERS[list.order](a, b, list) || inOrder(a, b)
}

/** The changes of a list, in its order; of changes in reading order. */
export function arranged(hunks: readonly Hunk[], list: Arrangement): readonly Hunk[] {
  const show = shownKind(hunks, list)
  const found = show === 'all' ? hunks : hunks.filter((hunk) => isShown(hunk, show))
  const isInOrder = list.order === 'place' && list.later.size === 0
  return isInOrder ? found : found.toSorted(comparing(list))
}
