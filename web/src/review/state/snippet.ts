/**
 * A change as a short quotation: a few words before, what goes, what comes, a few words after.
 * Pure.
 */
import type { Text } from '@codemirror/state'
import { shortened } from '../../text/shortened.ts'
import { countWords } from '../../text/textStatistics.ts'
import type { Hunk } from '../../wire/generated.ts'
import { editRange, hunkFrom, hunkTo, isMoved } from './hunk.ts'

export interface SnippetPiece {
  /** `far`: words around the change that are shown only where there is room. */
  kind: 'same' | 'far' | 'gone' | 'new'
  text: string
}

const BEFORE = 40
const AFTER = 26
/** So much of it stands close to the change. */
const NEAR = 12
/** Long passages keep their beginning. */
const LONGEST = 90

export function snippet(hunk: Hunk, doc: Text): SnippetPiece[] {
  const from = Math.min(hunkFrom(hunk), doc.length)
  const before = wordsBefore(doc, from)
  const start = nearStart(before)
  const pieces: SnippetPiece[] = [
    { kind: 'far', text: before.slice(0, start) },
    { kind: 'same', text: before.slice(start) },
  ]
  let at = from
  for (const part of hunk.parts) {
    // Between the two places of a moved change is other text.
    const between = isMoved(hunk) && at < part.from ? ' … ' : doc.sliceString(at, part.from)
    pieces.push({ kind: 'same', text: shortened(between, LONGEST) })
    pieces.push({ kind: 'gone', text: shortened(part.base, LONGEST) })
    pieces.push({
      kind: 'new',
      text: part.insert.length > 400 ? `${part.insert.slice(0, 400)}…` : part.insert,
    })
    at = part.to
  }
  const after = wordsAfter(doc, Math.min(hunkTo(hunk), doc.length))
  const end = nearEnd(after)
  pieces.push({ kind: 'same', text: after.slice(0, end) }, { kind: 'far', text: after.slice(end) })
  return trimEnds(pieces.filter((piece) => piece.text !== ''))
}

/** The change with a person's own words in the place of the proposed ones. */
export function withWords(hunk: Hunk, text: string, doc: Text): Hunk {
  const { from, to } = editRange(hunk)
  const put = { from, to, base: doc.sliceString(from, to), insert: text }
  const gone = isMoved(hunk) ? hunk.parts.filter(({ insert }) => insert === '') : []
  return { ...hunk, parts: [...gone, put].toSorted((a, b) => a.from - b.from) }
}

/** Returns the position at which the last few words begin, or the first few end. */
function nearStart(before: string): number {
  if (before.length <= NEAR) return 0
  const space = before.indexOf(' ', before.length - NEAR)
  return space < 0 ? before.length : space + 1
}

function nearEnd(after: string): number {
  if (after.length <= NEAR) return after.length
  return Math.max(0, after.lastIndexOf(' ', NEAR))
}

interface WordChange {
  plus: number
  minus: number
}

/** Counted once for each hunk: hunks are never changed, only replaced. */
const counted = new WeakMap<Hunk, WordChange>()

/** Words that come and go. */
export function wordChange(hunk: Hunk): WordChange {
  const known = counted.get(hunk)
  if (known) return known
  const sum = (side: 'base' | 'insert') =>
    hunk.parts.reduce((total, part) => total + countWords(part[side]), 0)
  const change = { plus: sum('insert'), minus: sum('base') }
  counted.set(hunk, change)
  return change
}

function wordsBefore(doc: Text, at: number): string {
  const line = doc.lineAt(at)
  const text = doc.sliceString(Math.max(line.from, at - BEFORE), at)
  return at - BEFORE <= line.from ? text : text.replace(/^\S*\s+/, '')
}

function wordsAfter(doc: Text, at: number): string {
  const line = doc.lineAt(at)
  const text = doc.sliceString(at, Math.min(line.to, at + AFTER))
  return at + AFTER >= line.to ? text : text.replace(/\s+\S*$/, '')
}

/** A list row does not begin or end with the line breaks of an inserted paragraph. */
function trimEnds(pieces: SnippetPiece[]): SnippetPiece[] {
  return pieces.map(({ kind, text }, index) => {
    if (index === 0) return { kind, text: text.replace(/^\n+/, '') }
    return index === pieces.length - 1 ? { kind, text: text.replace(/\n+$/, '') } : { kind, text }
  })
}
