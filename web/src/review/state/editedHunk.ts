/** A change as it would go in with a person's own words. Pure. */
import type { Text } from '@codemirror/state'
import type { Hunk, Part } from '../../wire/generated.ts'
import { editRange, isMoved } from './hunk.ts'
import { sentenceRange } from './sentence.ts'
import { wordDiff } from '../../text/wordDiff.ts'

/** Returns the change with the person's words, marked word by word; without words as it is. */
export function asEdited(hunk: Hunk, words: string | undefined, doc: Text): Hunk {
  if (words === undefined || hunk.status !== 'pending') return hunk
  const { from, to } = editRange(hunk)
  const gone = isMoved(hunk) ? hunk.parts.filter(({ insert }) => insert === '') : []
  const put = partsOf(from, doc.sliceString(from, to), words)
  const parts = [...gone, ...put].toSorted((a, b) => a.from - b.from)
  // As it was, it still has to be seen where it is.
  return { ...hunk, parts: parts.length > 0 ? parts : [{ from, to: from, base: '', insert: '' }] }
}

function partsOf(start: number, now: string, words: string): Part[] {
  const parts: Part[] = []
  let at = start
  for (const { kind, text } of wordDiff(now, words)) {
    const last = parts.at(-1)
    if (kind === 'new' && last && last.to === at && last.insert === '') last.insert = text
    else if (kind === 'new') parts.push({ from: at, to: at, base: '', insert: text })
    else if (kind === 'gone') parts.push({ from: at, to: at + text.length, base: text, insert: '' })
    if (kind !== 'new') at += text.length
  }
  return parts
}

/** Functions that the marks in the text need for changes that are edited. */
export const editTools = { asEdited, sentenceRange }
export type EditTools = typeof editTools
