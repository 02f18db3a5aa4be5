/** One thread: what it is about, its comments, and what can be done with it. */
import { memo, type RefObject, useId, useRef } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { canComment } from '../../session/roles.ts'
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { copyText } from '../../ui/clipboard.ts'
import { toast } from '../../ui/toasts.ts'
import { linkTo } from '../actions/link.ts'
import { resolve } from '../actions/send.ts'
import { shortQuote, subjectOf } from '../state/threads.ts'
import type { CommentThread } from '../../wire/generated.ts'
import { draftOf } from '../stores/drafts.ts'
import { useComments } from '../stores/threads.ts'
import { goTo } from '../text/anchors.ts'
import { CommentField } from './CommentField.tsx'
import { CommentList } from './CommentList.tsx'
import { focusCard, useCardFocus, useReading } from './useCard.ts'
import './ThreadCard.css'

interface Props {
  thread: CommentThread
  isActive: boolean
  now: number
}

export const ThreadCard = memo(function ThreadCard({ thread, isActive, now }: Props) {
  const { id } = thread
  const isUnread = useComments(({ unread }) => unread.has(id))
  const card = useRef<HTMLElement>(null)
  const heading = useId()
  const isWriter = useOpenDocument(({ role }) => canComment(role))
  useCardFocus(card, id)
  useReading(card, thread, isUnread)
  return (
    <article
      ref={card}
      tabIndex={-1}
      className={`thread ${isActive ? 'is-active' : ''}`}
      aria-labelledby={heading}
      data-thread={id}
      onFocus={() => isActive || useComments.setState({ active: id })}
    >
      <h3 id={heading}>
        {isUnread && <span className="badge">New</span>}
        <span className="card-note">{subjectOf(thread)}</span>
        <Quote thread={thread} />
      </h3>
      <CommentList thread={thread} isWhole={isActive} now={now} />
      {isWriter && isActive && thread.status !== 'resolved' && (
        <CommentField
          place={{ on: 'thread', threadId: id }}
          label="Reply"
          action="Reply"
          thread={thread}
          onClose={() => card.current?.focus()}
        />
      )}
      <div className="thread-foot">
        {isWriter && <ResolveButton thread={thread} card={card} />}
        <LinkButton thread={thread} />
        {!isActive && draftOf({ on: 'thread', threadId: id }) && (
          <span className="badge">Unsent reply</span>
        )}
        {thread.resolvedBy && thread.status === 'resolved' && (
          <span className="card-note">Resolved by {thread.resolvedBy.name}</span>
        )}
      </div>
    </article>
  )
})

/** The words that the thread is about; a press shows them in the text. */
function Quote({ thread: { id, quote, status } }: { thread: CommentThread }) {
  if (quote === '') return null
  const words = <q dir="auto">{shortQuote(quote)}</q>
  if (status !== 'open') return words
  const show = () => {
    const view = openDocument()?.view
    if (view) goTo(view, id)
  }
  return (
    <button type="button" className="thread-quote" title="Show the words" onClick={show}>
      {words}
    </button>
  )
}

interface ResolveProps {
  thread: CommentThread
  card: RefObject<HTMLElement | null>
}

/** The thread leaves the list: the keyboard goes to the next one. */
function ResolveButton({ thread: { id, status }, card }: ResolveProps) {
  const isResolved = status === 'resolved'
  const press = async () => {
    const line = card.current?.closest('li')
    const next = line?.nextElementSibling ?? line?.previousElementSibling
    if (!(await resolve(id, !isResolved))) return
    const undo = { label: 'Reopen', run: () => void resolve(id, false) }
    toast(isResolved ? 'Reopened.' : 'Resolved.', {
      about: 'comment',
      ...(!isResolved && { action: undo }),
    })
    focusCard(next?.querySelector('article'))
  }
  return (
    <OnlineButton look="quiet" onClick={() => void press()}>
      {isResolved ? 'Reopen' : 'Resolve'}
    </OnlineButton>
  )
}

function LinkButton({ thread: { id, documentId } }: { thread: CommentThread }) {
  return (
    <Button
      look="quiet"
      title="A link that opens the document at this thread"
      onClick={() => void copyText(linkTo(window.location.origin, documentId, id))}
    >
      Copy link
    </Button>
  )
}
