/** The sentence in which a change stands, for who edits it. Pure. */
import type { Text } from '@codemirror/state'
import type { Hunk } from '../../wire/generated.ts'
import { editableText, editRange, isMoved, spans } from './hunk.ts'
import { type DiffPiece, wordDiff } from '../../text/wordDiff.ts'

/** A sentence: the proposed words, and what stands around them. */
export interface Sentence {
  before: string
  middle: string
  after: string
}

/** An end of a sentence with what closes it, and the blank behind it. */
const END = /[.!?…。！？]+["'”’»)\]]*\s+/gu

/** Returns the range of the sentence around a change; no further than the changes beside it. */
export function sentenceRange(
  hunk: Hunk,
  doc: Text,
  others: readonly Hunk[],
): { from: number; to: number } {
  const range = editRange(hunk)
  const [from, to] = [Math.min(range.from, doc.length), Math.min(range.to, doc.length)]
  if (isMoved(hunk) || editableText(hunk, doc).includes('\n')) return { from, to }
  const around = others.filter(({ id }) => id !== hunk.id).flatMap(spans)
  const first = Math.max(
    doc.lineAt(from).from,
    ...around.filter((span) => span.to <= from).map((span) => span.to),
  )
  const last = Math.min(
    doc.lineAt(to).to,
    ...around.filter((span) => span.from >= to).map((span) => span.from),
  )
  const ends = [...doc.sliceString(first, from).matchAll(END)]
  const begin = ends.at(-1)
  const next = END.exec(doc.sliceString(to, last))
  END.lastIndex = 0
  return {
    from: begin ? first + begin.index + begin[0].length : first,
    to: next ? to + next.index + next[0].trimEnd().length : last,
  }
}

/** `words`: what is to stand in place of the proposed ones. */
export function sentenceOf(
  hunk: Hunk,
  doc: Text,
  others: readonly Hunk[],
  words: string,
): Sentence {
  const range = editRange(hunk)
  const { from, to } = sentenceRange(hunk, doc, others)
  return {
    before: doc.sliceString(from, range.from),
    middle: words,
    after: doc.sliceString(range.to, to),
  }
}

/** Divides an edited sentence at the three parts of the old one. */
export function divide({ before, middle, after }: Sentence, edited: string): Sentence {
  if (edited.startsWith(before) && edited.endsWith(after)) {
    const length = edited.length - before.length - after.length
    if (length >= 0)
      return { before, middle: edited.slice(before.length, before.length + length), after }
  }
  const pieces = wordDiff(before + middle + after, edited)
  const first = placeAfter(pieces, before.length, 'start')
  const last = Math.max(first, placeAfter(pieces, before.length + middle.length, 'end'))
  return {
    before: edited.slice(0, first),
    middle: edited.slice(first, last),
    after: edited.slice(last),
  }
}

/** Maps a place of the old sentence into the new one; words put in at an edge are the middle's. */
function placeAfter(pieces: readonly DiffPiece[], at: number, edge: 'start' | 'end'): number {
  let [old, now] = [0, 0]
  for (const [index, { kind, text }] of pieces.entries()) {
    const end = old + text.length
    if (kind === 'new') {
      if (old === at && edge === 'start') return now
      now += text.length
      continue
    }
    if (at < end || (at === end && edge === 'start' && kind === 'same')) {
      if (kind === 'same') return now + Math.max(0, at - old)
      const next = pieces[index + 1]
      return edge === 'end' && at > old && next?.kind === 'new' ? now + next.text.length : now
    }
    old = end
    if (kind === 'same') now += text.length
  }
  return now
}
