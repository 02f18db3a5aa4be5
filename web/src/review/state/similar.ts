/**
 * Which changes can be decided together: corrections, the same words by the same words, those of
 * one paragraph. Pure.
 */
import type { Text } from '@codemirror/state'
import type { Hunk, ToolApprovalRequest } from '../../wire/generated.ts'
import { toolFacts } from '../../wire/tools.ts'
import { hunkFrom, hunkTo } from './hunk.ts'
import { wordChange } from './snippet.ts'

const canBeAccepted = (hunk: Hunk): boolean => hunk.status === 'pending'

/**
 * Places of one request where a word or two become similar ones and the rest of the sentence stays.
 * What is found and replaced is no error: a name that becomes a similar one is another name.
 */
export const corrections = (
  hunks: readonly Hunk[],
  { tool_name }: Pick<ToolApprovalRequest, 'tool_name'>,
): Hunk[] =>
  toolFacts(tool_name)?.substitutes
    ? []
    : hunks.filter((hunk) => canBeAccepted(hunk) && hunk.kind === 'correction')

/** Words that come or go at most in a place that was put right. */
const FEW_WORDS = 2

/**
 * Returns whether all that is proposed are corrections: words that become similar ones, and few
 * others.
 */
export function isProofread(
  hunks: readonly Hunk[],
  { tool_name }: Pick<ToolApprovalRequest, 'tool_name'>,
): boolean {
  const isSmall = (hunk: Hunk) => {
    const { plus, minus } = wordChange(hunk)
    return hunk.kind !== 'moved' && plus <= FEW_WORDS && minus <= FEW_WORDS
  }
  return (
    !toolFacts(tool_name)?.substitutes &&
    hunks.some(({ kind }) => kind === 'correction') &&
    hunks.every(isSmall)
  )
}

/**
 * Returns the changes that put the same words in the place of the same words, itself among them.
 */
export function alike(hunks: readonly Hunk[], hunk: Hunk): Hunk[] {
  const words = wordsOf(hunk)
  return hunks.filter((other) => canBeAccepted(other) && wordsOf(other) === words)
}

const wordsOf = ({ parts }: Hunk): string =>
  JSON.stringify(parts.map(({ base, insert }) => [base.trim(), insert.trim()]))

/**
 * The changes of the same paragraph, itself among them: as the server says, or as the text has
 * them.
 */
export function inParagraph(hunks: readonly Hunk[], hunk: Hunk, doc: Text): Hunk[] {
  const { group, request_id } = hunk
  const others = hunks.filter(canBeAccepted)
  if (group !== undefined)
    return others.filter((other) => other.group === group && other.request_id === request_id)
  const { from, to } = paragraph(hunk, doc)
  return others.filter((other) => hunkFrom(other) >= from && hunkTo(other) <= to)
}

/** The lines around a change up to the next blank ones. */
function paragraph(hunk: Hunk, doc: Text): { from: number; to: number } {
  const [at, end] = [Math.min(hunkFrom(hunk), doc.length), Math.min(hunkTo(hunk), doc.length)]
  let [first, last] = [doc.lineAt(at), doc.lineAt(end)]
  while (first.number > 1 && doc.line(first.number - 1).text.trim() !== '')
    first = doc.line(first.number - 1)
  while (last.number < doc.lines && doc.line(last.number + 1).text.trim() !== '')
    last = doc.line(last.number + 1)
  return { from: first.from, to: last.to }
}

/** Returns whether two versions of a change put the same words in place of the same words. */
export const hasSameWords = (a: Hunk, b: Hunk): boolean =>
  a.parts.length === b.parts.length &&
  a.parts.every(({ base, insert }, at) => {
    const other = b.parts[at]!
    return base === other.base && insert === other.insert
  })
