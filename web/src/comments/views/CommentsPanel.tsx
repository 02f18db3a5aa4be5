/** The page of the panel with the comments: threads in the order of the text, and drafts. */
import { useEffect } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { useOpenDocumentFields } from '../../document/useOpenDocument.ts'
import { canComment } from '../../session/roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ALT, MOD } from '../../ui/keyNames.ts'
import { useNow } from '../../ui/useNow.ts'
import { readResolved } from '../actions/send.ts'
import { draftsOfNewThreads, keyOf } from '../state/drafts.ts'
import { listed } from '../state/threads.ts'
import type { ThreadStatus } from '../../wire/generated.ts'
import { useCommentDrafts } from '../stores/drafts.ts'
import { compose, useComments } from '../stores/threads.ts'
import { goTo } from '../text/anchors.ts'
import { DraftCard, NewThread } from './NewThread.tsx'
import { ThreadCard } from './ThreadCard.tsx'
import './CommentsPanel.css'

const STATUSES: readonly (readonly [ThreadStatus, string])[] = [
  ['open', 'Open'],
  ['resolved', 'Resolved'],
  ['orphaned', 'Words deleted'],
]

const MINUTE_MS = 60_000

export function CommentsPanel() {
  const { threads, status, composing, active } = useComments()
  const { id, role } = useOpenDocumentFields('id', 'role')
  const isWriter = canComment(role)
  const drafts = draftsOfNewThreads(useCommentDrafts())
  const waiting = drafts.filter(({ place }) => !composing || keyOf(place) !== keyOf(composing))
  const shown = listed(threads, status)
  const now = useNow(MINUTE_MS)
  useEffect(() => {
    if (status === 'resolved' && id !== null) void readResolved(id)
  }, [status, id])
  return (
    <div
      className="comments-page"
      onKeyDown={(event) => {
        const view = openDocument()?.view
        if (event.key === 'Escape' && view) goTo(view, active ?? '', true)
      }}
    >
      <div className="comment-filters" role="group" aria-label="Threads that are listed">
        {STATUSES.map(([value, words]) => (
          <Button
            look="chip"
            key={value}
            aria-pressed={status === value}
            onClick={() => useComments.setState({ status: value, composing: null })}
          >
            {words} {value !== 'resolved' && <Count of={listed(threads, value).length} />}
          </Button>
        ))}
        {isWriter && (
          <Button
            look="quiet"
            aria-label="New comment on the document"
            title="Comment on the whole document"
            onClick={() => compose({ on: 'document' })}
          >
            <Icon name="plus" size={14} /> New
          </Button>
        )}
      </div>
      {composing && isWriter && <NewThread key={keyOf(composing)} place={composing} />}
      {isWriter && waiting.map((draft) => <DraftCard key={keyOf(draft.place)} draft={draft} />)}
      {shown.length === 0 && !composing && <Nothing status={status} isWriter={isWriter} />}
      {shown.length > 0 && (
        <ol className="threads" aria-label="Threads">
          {shown.map((thread) => (
            <li key={thread.id}>
              <ThreadCard thread={thread} isActive={thread.id === active} now={now} />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

const Count = ({ of }: { of: number }) => (of > 0 ? <span>{of}</span> : null)

function Nothing({ status, isWriter }: { status: ThreadStatus; isWriter: boolean }) {
  const words = {
    open: isWriter
      ? `No comments. Select words and press ${MOD} ${ALT} M.`
      : 'What people say about this text shows up here.',
    resolved: 'Nothing is resolved yet.',
    orphaned: 'Threads whose words were deleted are kept here.',
  }
  return <p className="quiet">{words[status]}</p>
}
