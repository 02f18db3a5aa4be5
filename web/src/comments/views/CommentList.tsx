/** The comments of a thread, with what their writers can do with them. */
import { Button } from '../../ui/Button.tsx'
import { useState } from 'react'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import { clockTime, plural, timeAgo } from '../../ui/timeFormat.ts'
import { deleteComment } from '../actions/send.ts'
import type { Place } from '../state/drafts.ts'
import { AI, pieces } from '../state/mentions.ts'
import { canDelete, canEdit } from '../state/rights.ts'
import { writerOf, writtenAt } from '../state/threads.ts'
import type { Comment, CommentThread } from '../../wire/generated.ts'
import { draftOf } from '../stores/drafts.ts'
import { AiAnswer } from './AiAnswer.tsx'
import { CommentField } from './CommentField.tsx'
import { focusCard } from './useCard.ts'
import { usePeople } from './usePeople.ts'
import './CommentList.css'

/** Of a longer thread that is not looked at, only the first and the last comment are shown. */
const MOST_SHOWN = 3

interface ListProps {
  thread: CommentThread
  isWhole: boolean
  now: number
}

export function CommentList({ thread, isWhole, now }: ListProps) {
  const { comments } = thread
  const isFolded = !isWhole && comments.length > MOST_SHOWN
  const shown = isFolded ? [comments[0]!, comments.at(-1)!] : comments
  return (
    <ol className="comments" aria-label="Comments">
      {shown.map((comment, at) => (
        <li key={comment.id}>
          {isFolded && at === 1 && (
            <p className="card-note">{plural(comments.length - 2, 'more comment')}</p>
          )}
          <CommentItem thread={thread} comment={comment} now={now} />
        </li>
      ))}
    </ol>
  )
}

interface ItemProps {
  thread: CommentThread
  comment: Comment
  now: number
}

function CommentItem({ thread, comment, now }: ItemProps) {
  const { id, author, askedBy, text, editedAt, deleted } = comment
  const at = writtenAt(comment)
  const place: Place = { on: 'comment', threadId: thread.id, commentId: id }
  const [isEditing, setEditing] = useState(() => draftOf(place) !== undefined)
  return (
    <>
      <p className="comment-head">
        <b>{writerOf(comment)}</b>
        {author.ai && askedBy && <span>asked by {askedBy.name}</span>}
        <time dateTime={at} title={clockTime(at)}>
          {timeAgo(at, now)}
          {editedAt && !deleted && ', edited'}
        </time>
        {!isEditing && <Tools comment={comment} onEdit={() => setEditing(true)} />}
      </p>
      {deleted ? (
        <p className="quiet">Deleted.</p>
      ) : isEditing ? (
        <CommentField
          place={place}
          label="Edit your comment"
          action="Save"
          initial={text}
          takesFocus
          onClose={() => setEditing(false)}
          onSent={() => setEditing(false)}
        />
      ) : (
        <CommentText comment={comment} />
      )}
      {!deleted && <AiAnswer comment={comment} />}
    </>
  )
}

/** The text, with the people it mentions as chips. */
function CommentText({ comment: { text, mentions } }: { comment: Comment }) {
  const me = useSession((session) => session.me?.user)
  const known = usePeople()
  const people = [AI, ...known, ...(me ? [me] : [])].filter(({ id }) => mentions.includes(id))
  return (
    <p className="comment-text" dir="auto">
      {pieces(text, people).map((piece, index) =>
        piece.person ? (
          <span key={index} className={`mention ${piece.person.id === me?.id ? 'is-me' : ''}`}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </p>
  )
}

function Tools({ comment, onEdit }: { comment: Comment; onEdit: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const id = useSession((session) => session.me?.user.id)
  const role = useOpenDocument((state) => state.role)
  const isOwn = comment.author.id === id && !comment.claimedAuthor
  const whose = isOwn ? 'your comment' : `the comment of ${writerOf(comment)}`
  const remove = async (card: HTMLElement | null) => {
    if (await deleteComment(comment.id)) focusCard(card)
  }
  return (
    <span className="comment-tools">
      {canEdit(comment, id) && (
        <Button look="link" aria-label="Edit your comment" onClick={onEdit}>
          Edit
        </Button>
      )}
      {canDelete(comment, { id, role }) && (
        <button
          type="button"
          // The second press of a double click is not an answer.
          data-decides=""
          className={`link ${isAsked ? 'is-danger' : ''}`}
          aria-label={isAsked ? `Delete ${whose} for everyone` : `Delete ${whose}…`}
          onBlur={() => setAsked(false)}
          onClick={({ currentTarget }) =>
            isAsked ? void remove(currentTarget.closest('article')) : setAsked(true)
          }
        >
          {isAsked ? 'Delete for everyone?' : 'Delete'}
        </button>
      )}
    </span>
  )
}
