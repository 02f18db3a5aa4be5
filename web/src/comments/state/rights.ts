/** Rights to comment, and limits; the server has the last word. Pure. */
import type { Comment, CommentThread, Role } from '../../wire/generated.ts'

/** Most characters of a comment, and comments of a thread. */
export const MOST_CHARACTERS = 10_000
export const MOST_COMMENTS = 200
/** From here on the characters are counted before the eyes of a writer. */
const COUNTED_FROM = 9_000

const isOwn = ({ author, deleted }: Comment, me: string | undefined): boolean =>
  !deleted && author.id === me

/** Own comments, without those whose author an imported file names. */
export const canEdit = (comment: Comment, me: string | undefined): boolean =>
  isOwn(comment, me) && !comment.claimedAuthor

/** One's own and those that one imported; an owner deletes any. */
export const canDelete = (
  comment: Comment,
  { id, role }: { id: string | undefined; role: Role },
): boolean => isOwn(comment, id) || (role === 'owner' && !comment.deleted)

/** Returns the reason why a comment cannot be sent, before it is tried; `null`: it can. */
export function refusedBefore(text: string, thread?: CommentThread): string | null {
  if (thread && thread.comments.length >= MOST_COMMENTS)
    return `This thread has ${MOST_COMMENTS} comments, the most there can be. Start a new one.`
  const { length } = [...text]
  const over = length - MOST_CHARACTERS
  return over > 0 ? `${over.toLocaleString('en-US')} characters too long.` : null
}

/** "9,120 of 10,000 characters", near the limit only. */
export function lengthNote(text: string): string | null {
  const { length } = [...text]
  return length < COUNTED_FROM
    ? null
    : `${length.toLocaleString('en-US')} of ${MOST_CHARACTERS.toLocaleString('en-US')} characters`
}

/** Returns the reason why a comment was not sent, by the code of the server’s answer. */
export function notSent({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'offline':
    case 'timeout':
      return 'Not sent: there is no connection. It is kept as a draft.'
    case 'not_allowed':
      return 'Not sent: you may not do that here. It is kept as a draft.'
    case 'rate_limited':
      return 'Not sent: too many comments in a minute. It is kept as a draft; try again soon.'
    case 'not_found':
      return 'Not sent: the thread is gone. It is kept as a draft.'
  }
  return `Not sent: ${message}. It is kept as a draft.`
}
