/** The report of an imported or pasted text, in words. Pure. */
import { plural } from './timeFormat.ts'
import type { ImportedDocument, ImportReport, ToolApprovalRequest } from '../wire/generated.ts'

/** Returns the end of the noun of a kind: "tables without a heading". */
const AFTER_NOUN = / (?:without|of|with|in|read|that|as) /

/** "2 pictures", "1 table without a heading". */
function counted({ kind, count }: { kind: string; count: number }): string {
  const end = AFTER_NOUN.exec(kind)?.index ?? kind.length
  const [noun, rest] = [kind.slice(0, end), kind.slice(end)]
  const many = /[^aeo]y$/.test(noun)
    ? `${noun.slice(0, -1)}ies`
    : /(s|x|ch)$/.test(noun)
      ? `${noun}es`
      : `${noun}s`
  return plural(count, kind, many + rest)
}

/** "Left out: 1 comment, 2 pictures."; nothing if nothing was lost or decided. */
export function reportWords({ leftOut, decided }: ImportReport, stays = ''): string {
  const line = (title: string, kinds: readonly { kind: string; count: number }[], more = '') =>
    kinds.length > 0 ? [`${title}: ${kinds.map(counted).join(', ')}${more}.`] : []
  return [...line('Left out', leftOut, stays), ...line('Decided', decided)].join(' ')
}

/** Also what waits: "3 tracked changes by Bo to review. 2 comments are beside the text." */
export function importWords({ report, requests, comments }: ImportedDocument): string {
  const waiting = requests.map(
    (request) =>
      `${plural(request.hunks.length, 'tracked change')} by ${authorName(request)} to review.`,
  )
  if (comments > 0)
    waiting.push(`${plural(comments, 'comment')} ${comments === 1 ? 'is' : 'are'} beside the text.`)
  return [reportWords(report, '; what is left out stays in the file'), ...waiting]
    .filter((words) => words !== '')
    .join(' ')
}

type Authored = Pick<ToolApprovalRequest, 'author' | 'claimedAuthor'>

const authorName = ({ author, claimedAuthor }: Authored): string =>
  claimedAuthor?.name ?? author.name

/**
 * Names the author of the changes of a request: "AI, asked by Ana", or "Bo in Word" of an imported
 * file.
 */
export const proposedBy = (request: Authored): string =>
  request.claimedAuthor
    ? `${request.claimedAuthor.name} in Word`
    : `AI, asked by ${request.author.name}`
