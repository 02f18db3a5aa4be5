/** Words typed and deleted that the server has not got, with their places. Pure. */
import type { ChangeDesc, ChangeSet, Text } from '@codemirror/state'

/** UTF-16 units of the text that are kept before and after each place. */
export const AROUND = 60

export const newId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-')

/** One place of the text in which words were typed or deleted. */
export interface UnsentPlace {
  /** Position in the text that it was typed into. */
  at: number
  before: string
  removed: string
  inserted: string
  after: string
}

export interface UnsentEdit {
  id: string
  /** Its place in the history of the text; `null`: that is not known any more. */
  base: {
    /** Version of the server's text under it. */
    version: number
    /** The change set of that text, as JSON. */
    changes: unknown
    /** Number of updates that it is made of, and under which name they are sent. */
    updates: number
    clientID: string
  } | null
  places: UnsentPlace[]
  /** True if it was suggested, not written: its places are in the text with the suggestion. */
  suggested?: boolean
}

/** The server's text and version. */
interface ServerText {
  doc: Text
  version: number
}

/** One update that has not arrived. */
interface UnsentUpdate {
  changes: ChangeSet
  clientID: string
}

/** The words typed over the server's text; `null`: nothing but blanks. */
export function unsentEdit(
  { doc, version }: ServerText,
  unconfirmed: readonly UnsentUpdate[],
  id: string,
): UnsentEdit | null {
  const [first, ...rest] = unconfirmed
  if (!first) return null
  const all = rest.reduce((before, { changes }) => before.compose(changes), first.changes)
  const places = placesOf(all, doc)
  if (places.length === 0) return null
  const changes = all.toJSON() as unknown
  const { clientID } = first
  return { id, base: { version, changes, updates: unconfirmed.length, clientID }, places }
}

function placesOf(changes: ChangeSet, doc: Text): UnsentPlace[] {
  const places: UnsentPlace[] = []
  changes.iterChanges((from, to, _fromB, _toB, inserted) =>
    places.push({
      at: from,
      before: doc.sliceString(Math.max(0, from - AROUND), from),
      removed: doc.sliceString(from, to),
      inserted: inserted.toString(),
      after: doc.sliceString(to, to + AROUND),
    }),
  )
  return places.filter(({ removed, inserted }) => removed.trim() !== inserted.trim())
}

/** The words of an edit, for who copies them. */
export const wordsOf = ({ places }: UnsentEdit): string =>
  places
    .map(({ inserted }) => inserted)
    .filter((words) => words.trim() !== '')
    .join('\n\n')

/** Words that were kept without their place. */
export const withoutPlace = (inserted: string, id: string): UnsentEdit => ({
  id,
  base: null,
  places: [{ at: 0, before: '', removed: '', inserted, after: '' }],
})

/** One update of the text, in the server's order; `null`: sent under a name that is not known. */
export interface LaterUpdate {
  clientID: string | null
  changes: ChangeDesc
}

/** Returns how many of the updates of an edit are among those that the server has. */
export function arrived(
  { base }: UnsentEdit,
  since: readonly LaterUpdate[],
): 'none' | 'some' | 'all' {
  if (!base) return 'none'
  const count = since.filter(({ clientID }) => clientID === base.clientID).length
  return count === 0 ? 'none' : count < base.updates ? 'some' : 'all'
}

/** UTF-16 units around a place that tell that its words are there. */
const BESIDE = 12

/** Returns whether a text with one's suggestion has an edit that was suggested. */
export const isSuggested = ({ places }: UnsentEdit, text: string): boolean =>
  places.every(({ before, inserted, after }) =>
    text.includes(before.slice(-BESIDE) + inserted + after.slice(0, BESIDE)),
  )
