/**
 * Counts and headings, as a writer counts them. What did not change of a long text is not read
 * again: the parts of a `Text` are kept with what was found in them. Pure.
 */
import type { Text } from '@codemirror/state'
import { plainText } from './plainText.ts'

const WORD = /[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*/gu

/** Words as the status line counts them; an apostrophe or hyphen inside does not split. */
export function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0
}

const counted = new WeakMap<Text, number>()

/** Words of a document. A part of a `Text` is whole lines, so no word lies across two of them. */
export function wordsOf(doc: Text): number {
  const known = counted.get(doc)
  if (known !== undefined) return known
  const words = doc.children
    ? doc.children.reduce((sum, part) => sum + wordsOf(part), 0)
    : countWords(doc.toString())
  counted.set(doc, words)
  return words
}

export interface Heading {
  level: number
  text: string
  at: number
}

/** A line that may be a heading or the edge of fenced code. */
interface Candidate {
  /** Its position in its part of the text. */
  offset: number
  line: string
}

const candidates = new WeakMap<Text, readonly Candidate[]>()

function candidatesIn(part: Text): readonly Candidate[] {
  const known = candidates.get(part)
  if (known) return known
  const found: Candidate[] = []
  let offset = 0
  for (const line of part.iterLines()) {
    if (/^ {0,3}(#{1,6}[ \t]|`{3}|~{3})/.test(line)) found.push({ offset, line })
    offset += line.length + 1
  }
  candidates.set(part, found)
  return found
}

/** The parts of a text that are kept while they do not change, and where they begin. */
function* partsOf(doc: Text, at = 0): Generator<{ part: Text; at: number }> {
  if (!doc.children) return yield { part: doc, at }
  for (const child of doc.children) {
    yield* partsOf(child, at)
    at += child.length + 1
  }
}

/** Markdown headings (`#` form), outside fenced code. */
export function outline(doc: Text): Heading[] {
  const headings: Heading[] = []
  let fence = ''
  for (const { part, at } of partsOf(doc))
    for (const { offset, line } of candidatesIn(part)) {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (mark && !fence) fence = mark
      else if (mark && mark.startsWith(fence)) fence = ''
      const found = fence ? null : /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)
      if (found?.[2])
        headings.push({ level: found[1]!.length, text: plainText(found[2]), at: at + offset })
    }
  return headings
}

/** The words of a heading of the first rank that is the first line. */
export function titleIn(doc: Text): string | null {
  const [first] = doc.line(1).text.startsWith('#') ? outline(doc) : []
  return first?.at === 0 && first.level === 1 ? first.text.trim() : null
}
