/** Threads of comments: their places in the text, their order and what is new in them. Pure. */
import type { ChangeDesc } from '@codemirror/state'
import { shortened } from '../../text/shortened.ts'
import type { Comment, CommentThread, Range, ThreadStatus } from '../../wire/generated.ts'

/** Threads whose places are of a version. */
export interface ThreadsAt {
  version: number
  threads: readonly CommentThread[]
}

/**
 * Returns a place after a change: what is typed at an edge stays outside. Without its words it is
 * empty. The server moves it by the same rule, and says so where other words take their place.
 */
export function mapPlace({ from, to }: Range, changes: ChangeDesc): Range {
  const start = changes.mapPos(from, 1)
  return { from: start, to: Math.max(start, changes.mapPos(to, -1)) }
}

/** The threads after changes, one at a time. */
export function followChanges(
  threads: readonly CommentThread[],
  path: readonly ChangeDesc[],
): readonly CommentThread[] {
  if (path.length === 0) return threads
  return threads.map((thread) =>
    thread.anchor ? { ...thread, anchor: path.reduce(mapPlace, thread.anchor) } : thread,
  )
}

/** With one thread, new or in another state; one whose comments are all deleted is gone. */
export function withThread(
  threads: readonly CommentThread[],
  thread: CommentThread,
): readonly CommentThread[] {
  if (thread.comments.every(({ deleted }) => deleted))
    return threads.filter(({ id }) => id !== thread.id)
  const isKnown = threads.some(({ id }) => id === thread.id)
  return isKnown
    ? threads.map((known) => (known.id === thread.id ? thread : known))
    : [...threads, thread]
}

const startedAt = ({ comments }: CommentThread): string => comments[0]?.at ?? ''

/** Those about the whole document first, then in the order of the text, then by their time. */
export const inTextOrder = (a: CommentThread, b: CommentThread): number =>
  (a.anchor?.from ?? -1) - (b.anchor?.from ?? -1) ||
  (a.anchor?.to ?? -1) - (b.anchor?.to ?? -1) ||
  startedAt(a).localeCompare(startedAt(b))

export function listed(threads: readonly CommentThread[], status: ThreadStatus): CommentThread[] {
  return threads.filter((thread) => thread.status === status).toSorted(inTextOrder)
}

/** The comments of other people that a thread has now, and did not have before. */
export function newComments(
  thread: CommentThread,
  before: CommentThread | undefined,
  me: string | undefined,
): Comment[] {
  const known = new Set(before?.comments.map(({ id }) => id))
  return thread.comments.filter(
    ({ id, author, deleted }) => !known.has(id) && author.id !== me && !deleted,
  )
}

export const unreadCount = (
  threads: readonly CommentThread[],
  unread: ReadonlySet<string>,
): number => threads.filter(({ id, status }) => unread.has(id) && status !== 'resolved').length

/** The number of threads, resolved ones apart, that mention us and have something unread. */
export const mentionsOf = (
  threads: readonly CommentThread[],
  unread: ReadonlySet<string>,
  me: string | undefined,
): number => {
  const isOurs = ({ comments }: CommentThread) =>
    comments.some(({ author, mentions }) => author.id !== me && mentions.includes(me ?? ''))
  return threads.filter((thread) => isOurs(thread) && unreadCount([thread], unread) > 0).length
}

/** Returns the subject of a thread, in words. */
export function subjectOf({ anchor, quote, request_id, status }: CommentThread): string {
  if (status === 'orphaned') return 'The words were deleted'
  if (request_id) return 'On a change'
  return anchor || quote ? 'On these words' : 'On the whole document'
}

const MOST_QUOTED = 80

/** The first words of a quotation, on one line. */
export const shortQuote = (quote: string, most = MOST_QUOTED): string =>
  shortened(quote.replace(/\s+/g, ' ').trim(), most)

/** The name of its writer: of an imported file the one that the file claims, "Bo in Word". */
export const writerOf = ({ author, claimedAuthor }: Comment): string =>
  claimedAuthor ? `${claimedAuthor.name || 'Somebody'} in Word` : author.name

/** The time of writing: of an imported file the one that the file claims, if it is a time. */
export const writtenAt = ({ at, claimedAuthor }: Comment): string =>
  claimedAuthor?.at && !Number.isNaN(Date.parse(claimedAuthor.at)) ? claimedAuthor.at : at

/** "Bo commented on “the lamp”: Why?", for screen readers. */
export function announcement(thread: CommentThread, comment: Comment): string {
  const isFirst = thread.comments[0]?.id === comment.id
  const about = thread.quote ? `“${shortQuote(thread.quote)}”` : 'the document'
  const said = shortQuote(comment.text, 200)
  return `${writerOf(comment)} ${isFirst ? 'commented on' : 'replied about'} ${about}: ${said}`
}
