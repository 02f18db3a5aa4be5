/** Finds the place of an edit that was not sent in the text as it is now. Pure. */
import { type ChangeDesc, ChangeSet, MapMode, type Text } from '@codemirror/state'
import {
  AROUND,
  arrived,
  type LaterUpdate,
  type UnsentEdit,
  type UnsentPlace,
} from './unsentEdit.ts'

/** Fewer units of the text do not tell a place from another one. */
const FEWEST = 10
/** So many of the units on each side of a place are looked for, the most telling first. */
const LENGTHS = [AROUND, 30, 15, 6]

/** Words that go out of the text as it is now, and those that come in. */
export interface Replacement {
  from: number
  to: number
  insert: string
}

export interface PutBack {
  /** In order, beside each other. */
  replacements: Replacement[]
  /** True if all of it goes where it was; else some goes to the end of the text. */
  isExact: boolean
  /** Deleted words that are not found any more: nothing is done about them. */
  notFound: string[]
}

/**
 * Returns the replacements that put an edit back into a text. `since`: updates of the text from its
 * version on, if they are known; else the places are found by the words around them.
 */
export function putBack(
  edit: UnsentEdit,
  doc: Text,
  since: readonly LaterUpdate[] | null,
): PutBack {
  const mapped = since && arrived(edit, since) === 'none' ? follow(edit, since, doc) : null
  return mapped ?? byWords(edit, doc)
}

/** `null`: the edit is not of that text, or what stood around it is gone. */
function follow({ base }: UnsentEdit, since: readonly LaterUpdate[], doc: Text): PutBack | null {
  if (!base) return null
  try {
    let mine = ChangeSet.fromJSON(base.changes)
    for (const { changes } of since) {
      if (losesPlace(mine, changes)) return null
      mine = mine.map(changes)
    }
    if (mine.length !== doc.length) return null
    const replacements: Replacement[] = []
    mine.iterChanges((from, to, _fromB, _toB, inserted) =>
      replacements.push({ from, to, insert: inserted.toString() }),
    )
    return { replacements, isExact: true, notFound: [] }
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null
    throw error
  }
}

/** Returns whether words on both sides of a place go: the place is nowhere then. */
function losesPlace(mine: ChangeSet, theirs: ChangeDesc): boolean {
  let lost = false
  mine.iterChanges((from) => {
    lost ||= theirs.mapPos(from, -1, MapMode.TrackDel) === null
  })
  return lost
}

function byWords({ places }: UnsentEdit, doc: Text): PutBack {
  const text = doc.toString()
  const replacements: Replacement[] = []
  const homeless: string[] = []
  const notFound: string[] = []
  for (const place of places) {
    const found = place.removed !== '' ? whereRemoved(place, text) : null
    const at = found ?? whereBetween(place, text)
    const isFree = (span: { from: number; to: number }) =>
      replacements.every(({ from, to }) => span.to <= from || to <= span.from)
    if (at && isFree(at) && (found || place.inserted !== ''))
      replacements.push({ ...at, insert: place.inserted })
    else if (place.inserted.trim() !== '') homeless.push(place.inserted.trim())
    if (!found && place.removed.trim() !== '') notFound.push(place.removed)
  }
  if (homeless.length > 0) {
    const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
    const insert = gap + homeless.join('\n\n')
    replacements.push({ from: text.length, to: text.length, insert })
  }
  replacements.sort((a, b) => a.from - b.from || a.to - b.to)
  return { replacements, isExact: homeless.length === 0 && notFound.length === 0, notFound }
}

/** The deleted words, with as much as possible of what stood around them. */
function whereRemoved(place: UnsentPlace, text: string): { from: number; to: number } | null {
  const { removed } = place
  const enough = removed.trim().length >= FEWEST ? [...LENGTHS, 0] : LENGTHS
  for (const length of enough) {
    const before = last(place.before, length)
    const at = nearest(text, before + removed + first(place.after, length), place.at, before.length)
    if (at !== null) return { from: at, to: at + removed.length }
  }
  return null
}

/** Between the words that stood around; else behind those before, or in front of those after. */
function whereBetween(place: UnsentPlace, text: string): { from: number; to: number } | null {
  const { before, after } = place
  const sides: ((length: number) => [string, string])[] = [
    (length) => [last(before, length), first(after, length)],
    (length) => [last(before, length), ''],
    (length) => ['', first(after, length)],
  ]
  for (const side of sides)
    for (const length of LENGTHS) {
      const [head, tail] = side(length)
      if ((head + tail).trim().length < FEWEST) continue
      const at = nearest(text, head + tail, place.at, head.length)
      if (at !== null) return { from: at, to: at }
    }
  return null
}

const last = (text: string, length: number): string => (length === 0 ? '' : text.slice(-length))
const first = (text: string, length: number): string => text.slice(0, length)

/** Of the places where `sought` stands, the one whose unit at `offset` is nearest to `at`. */
function nearest(text: string, sought: string, at: number, offset: number): number | null {
  let best: number | null = null
  for (let found = text.indexOf(sought); found >= 0; found = text.indexOf(sought, found + 1)) {
    const here = found + offset
    if (best === null || Math.abs(here - at) < Math.abs(best - at)) best = here
  }
  return best
}

/** One replacement with the words of its paragraph around it. */
export interface Preview {
  before: string
  gone: string
  put: string
  after: string
}

const SHOWN_AROUND = 40

export function previews({ replacements }: PutBack, doc: Text): Preview[] {
  return replacements.map(({ from, to, insert }) => ({
    before: doc.sliceString(Math.max(doc.lineAt(from).from, from - SHOWN_AROUND), from),
    gone: doc.sliceString(from, to),
    put: insert,
    after: doc.sliceString(to, Math.min(doc.lineAt(to).to, to + SHOWN_AROUND)),
  }))
}
