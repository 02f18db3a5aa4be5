/**
 * A history of single updates as steps that a person remembers: words written in one go, changes
 * accepted. Pure.
 */
import type { HistoryAct, Difference, HistoryLine, Person } from '../wire/generated.ts'
import { countWords } from '../text/textStatistics.ts'

/** Typing with a longer pause is another step. */
const PAUSE_MS = 10 * 60_000
/** People who type within so short a time of each other type together: that is one step. */
const TOGETHER_MS = 30_000

export interface Step {
  /** The version before its first update. */
  from: number
  /** The version after its last. */
  to: number
  /** Its authors, the latest first: several people if they typed together. */
  authors: readonly Person[]
  /** `begun`: the text with which the document was created. */
  act: HistoryAct | 'begun'
  /** Time of its end; missing for the beginning. */
  at?: string
  /** The request it came from. */
  origin?: string
}

/** The step before all updates. */
export const BEGINNING: Step = { from: 0, to: 0, authors: [], act: 'begun' }

/** Newest first, as the lines are. */
export function stepsOf(lines: readonly HistoryLine[]): Step[] {
  const steps: Step[] = []
  let before: HistoryLine | undefined
  for (const line of lines) {
    const last = steps.at(-1)
    if (last && before && goesOn(last, before, line)) {
      last.from = line.version - 1
      if (last.authors.every(({ id }) => id !== line.author.id))
        last.authors = [...last.authors, line.author]
    } else steps.push(stepOf(line))
    before = line
  }
  return steps
}

function stepOf({ version, author, at, act, origin }: HistoryLine): Step {
  return {
    from: version - 1,
    to: version,
    authors: [author],
    act,
    at,
    ...(origin !== undefined && { origin }),
  }
}

function goesOn(step: Step, later: HistoryLine, line: HistoryLine): boolean {
  // What was there before much of it went is offered by itself.
  if (later.act === 'typed' && later.isLarge) return false
  const alike = step.act === line.act && step.origin === line.origin && step.act !== 'restored'
  const pause = Date.parse(later.at) - Date.parse(line.at)
  if (later.author.id === line.author.id) return alike && pause <= PAUSE_MS
  return alike && step.act === 'typed' && pause <= TOGETHER_MS
}

/** "Ana", "Ana and Bo", "Ana, Bo and Cy". */
export function namesIn({ authors }: Step): string {
  const names = authors.map(({ name }) => name)
  const last = names.pop() ?? ''
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`
}

export function titleOf({ act }: Step): string {
  switch (act) {
    case 'typed':
      return 'Edited'
    case 'accepted':
      return 'Accepted AI changes'
    case 'taken_back':
      return 'Took back AI changes'
    case 'restored':
      return 'Restored an earlier version'
    case 'begun':
      return 'Original text'
  }
}

/** Numbers of words that came and went. */
export function wordsIn(parts: readonly Difference[]): { added: number; removed: number } {
  const count = (texts: readonly string[]) => texts.reduce((sum, text) => sum + countWords(text), 0)
  return {
    added: count(parts.map((part) => part.insert)),
    removed: count(parts.map((part) => part.base)),
  }
}

export interface VersionPiece {
  text: string
  is: 'same' | 'gone' | 'new'
}

/** The text of one version with what is different in another, piece by piece. */
export function woven(text: string, parts: readonly Difference[]): VersionPiece[] {
  const pieces: VersionPiece[] = []
  const add = (piece: string, is: VersionPiece['is']) =>
    piece !== '' && pieces.push({ text: piece, is })
  let at = 0
  for (const { from, to, base, insert } of parts) {
    add(text.slice(at, from), 'same')
    add(base, 'gone')
    add(insert, 'new')
    at = to
  }
  add(text.slice(at), 'same')
  return pieces
}
