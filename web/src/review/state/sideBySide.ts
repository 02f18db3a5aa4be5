/** A text and what it would be, paragraph beside paragraph. Pure. */
import type { Text } from '@codemirror/state'
import type { Hunk, Part } from '../../wire/generated.ts'
import { isMarked } from './marks.ts'

export interface ComparedText {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/**
 * Paragraphs that stand beside each other: mostly one, several where they are joined or divided.
 */
export interface Pair {
  original: ComparedText[]
  proposed: ComparedText[]
  changed: boolean
  /** The changes of meaning in it. */
  marked: Hunk[]
}

/** Unchanged paragraphs that are left out. */
export interface Skipped {
  skipped: number
}

/** The whole text, with these changes marked on both sides. */
export function sideBySide(doc: Text, hunks: readonly Hunk[]): Pair[] {
  const parts = hunks
    .filter((hunk) => hunk.status === 'pending')
    .flatMap((hunk) => hunk.parts.map((part) => ({ ...part, hunk })))
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
  const pairs: Pair[] = []
  const empty = (): Pair => ({ original: [], proposed: [], changed: false, marked: [] })
  let pair = empty()
  const cut = () => {
    const words = ({ text }: ComparedText) => text.trim() !== ''
    if (pair.changed || pair.original.some(words)) pairs.push(pair)
    pair = empty()
  }
  const unchanged = (text: string) =>
    text.split('\n').forEach((line, index) => {
      if (index > 0) cut()
      if (line === '') return
      pair.original.push({ kind: 'same', text: line })
      pair.proposed.push({ kind: 'same', text: line })
    })
  const change = (base: string, insert: string, hunk: Hunk) => {
    if (base !== '') pair.original.push({ kind: 'gone', text: base })
    if (insert !== '') pair.proposed.push({ kind: 'new', text: insert })
    pair.changed = true
    if (isMarked(hunk) && !pair.marked.includes(hunk)) pair.marked.push(hunk)
  }
  let at = 0
  for (const part of parts) {
    unchanged(doc.sliceString(at, part.from))
    if (isWholeLines(part, doc)) {
      cut()
      change(trimmed(part.base), trimmed(part.insert), part.hunk)
      cut()
    } else change(part.base, part.insert, part.hunk)
    at = Math.max(at, part.to)
  }
  unchanged(doc.sliceString(at))
  cut()
  return pairs
}

/** Whole paragraphs come or go: they have nothing beside them. */
function isWholeLines({ from, to, base, insert }: Part, doc: Text): boolean {
  if ((base !== '') === (insert !== '')) return false
  const words = base + insert
  if (words.trim() === '') return false
  return (
    (words.startsWith('\n') && doc.lineAt(to).to === to) ||
    (words.endsWith('\n') && doc.lineAt(from).from === from)
  )
}

const trimmed = (text: string): string => text.replace(/^\n+|\n+$/g, '')

/** The pairs that differ, with `around` unchanged ones before and after each. */
export function shortened(pairs: readonly Pair[], around: number): (Pair | Skipped)[] {
  const near = (index: number) =>
    pairs.slice(Math.max(0, index - around), index + around + 1).some(({ changed }) => changed)
  const shown: (Pair | Skipped)[] = []
  pairs.forEach((pair, index) => {
    const last = shown.at(-1)
    if (near(index)) shown.push(pair)
    else if (last && 'skipped' in last) last.skipped += 1
    else shown.push({ skipped: 1 })
  })
  return shown
}
