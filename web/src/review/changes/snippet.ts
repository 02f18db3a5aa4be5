/** A change as a short quotation: a few words before, what goes, what comes, a few words after. Pure. */
import type { Text } from '@codemirror/state'
import { countWords } from '../../editor/textStatistics.ts'
import type { Hunk } from '../../wire/generated.ts'
import { hunkFrom, hunkTo } from './hunk.ts'

export interface Piece {
  kind: 'same' | 'gone' | 'new'
  text: string
}

const BEFORE = 26
const AFTER = 18
const LONGEST = 90

export function snippet(hunk: Hunk, doc: Text): Piece[] {
  const from = Math.min(hunkFrom(hunk), doc.length)
  const pieces: Piece[] = [{ kind: 'same', text: wordsBefore(doc, from) }]
  let at = from
  for (const part of hunk.parts) {
    pieces.push({ kind: 'same', text: shorten(doc.sliceString(at, part.from)) })
    pieces.push({ kind: 'gone', text: shorten(part.base) })
    pieces.push({
      kind: 'new',
      text: part.insert.length > 400 ? `${part.insert.slice(0, 400)}…` : part.insert,
    })
    at = part.to
  }
  pieces.push({ kind: 'same', text: wordsAfter(doc, Math.min(hunkTo(hunk), doc.length)) })
  return trimEnds(pieces.filter((piece) => piece.text !== ''))
}

/** Words that come and go. */
export function wordChange(hunk: Hunk): { plus: number; minus: number } {
  const sum = (side: 'base' | 'insert') =>
    hunk.parts.reduce((total, part) => total + countWords(part[side]), 0)
  return { plus: sum('insert'), minus: sum('base') }
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

/** Long passages keep their beginning. */
function shorten(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`
}

/** A list row does not begin or end with the line breaks of an inserted paragraph. */
function trimEnds(pieces: Piece[]): Piece[] {
  return pieces.map(({ kind, text }, index) => {
    if (index === 0) return { kind, text: text.replace(/^\n+/, '') }
    return index === pieces.length - 1 ? { kind, text: text.replace(/\n+$/, '') } : { kind, text }
  })
}
