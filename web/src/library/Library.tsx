/** All documents: open, make, rename and delete them. */
import { Suspense, useEffect, useState } from 'react'
import { InboxButton } from '../workspace-inbox/InboxButton.tsx'
import { splitByWaiting, useInbox } from '../workspace-inbox/state/store.ts'
import { mayDecide } from '../review/state/permissions.ts'
import { useCapability, useSession, wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'
import { plural, timeAgo } from '../ui/timeFormat.ts'
import type { DocumentLine } from '../wire/generated.ts'
import {
  createDocument,
  deleteDocument,
  focusWhenOpen,
  isUntouchedSample,
  loadLibrary,
  renameDocument,
  search,
  useLibrary,
} from './library.ts'
import { AccountButton } from '../account/AccountButton.tsx'
import { ImportFiles } from './ImportFiles.tsx'
import { OpenFile } from './OpenFile.tsx'
import { tooLong } from '../text/title.ts'
import { documentPath, follow, navigate, SERVER_PATH } from '../navigation/routes.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Share } from '../sharing/Share.tsx'
import { isNotifying } from '../account/notifications.ts'
import { useTabTitle, type Waiting, waitingWords } from '../navigation/tabTitle.ts'
import { canWrite } from '../session/roles.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'

const DeletedDocuments = lazyPart(() =>
  import('./DeletedDocuments.tsx').then((all) => all.DeletedDocuments),
)

const create = async () => {
  const id = await createDocument()
  if (!id) return
  focusWhenOpen(id)
  navigate(documentPath(id))
}

/** Documents that are seen at a glance; of more, the list can be searched. */
const AT_A_GLANCE = 7
/**
 * Nobody tells this page what waits in documents that are not open: it asks while it is looked at,
 * and for who wants to be notified.
 */
const REFRESH_MS = 20_000

/** For owners: the page of the server. */
function ServerLink() {
  const isAble = useCapability('administration')
  const isOwner = useSession((session) => session.me?.role === 'owner')
  if (!isAble || !isOwner) return null
  return (
    <a
      className="button is-quiet"
      href={SERVER_PATH}
      onClick={(event) => follow(event, SERVER_PATH)}
    >
      <Icon name="server" size={15} /> Server
    </a>
  )
}

export function Library() {
  const { documents, problem } = useLibrary()
  const [sought, setSought] = useState('')
  useTabTitle('', useWaiting(documents ?? []))
  const { link, me } = useSession()
  const [doomed, setDoomed] = useState<DocumentLine | null>(null)
  const [renaming, setRenaming] = useState<DocumentLine | null>(null)
  const [deleted, setDeleted] = useState(false)
  const hasTrash = useCapability('trash')
  useEffect(() => {
    if (link === 'online') void loadLibrary()
    const look = () =>
      link === 'online' && (!document.hidden || isNotifying()) && void loadLibrary()
    const timer = setInterval(look, REFRESH_MS)
    document.addEventListener('visibilitychange', look)
    const stops = [
      wire.on('document:changed', () => void loadLibrary()),
      wire.on('document:created', () => void loadLibrary()),
    ]
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
      stops.forEach((stop) => stop())
    }
  }, [link])
  const found = search(documents ?? [], sought)
  const mayWrite = me !== null && canWrite(me.role)
  return (
    <div className="library">
      <main>
        <div className="library-head">
          <p className="product">
            <Icon name="book" size={20} />
            <span>
              <b>Copydesk</b> Write together, and review every AI edit before it lands.
            </span>
          </p>
          <div className="library-actions">
            <InboxButton />
            <Share documentId={null} />
            <ServerLink />
            <AccountButton />
          </div>
        </div>
        <div className="library-head">
          <h1>Documents</h1>
          <div className="library-actions">
            <OpenFile />
            {mayWrite && <ImportFiles />}
            {mayWrite && documents !== null && documents.length > 0 && (
              <button type="button" className="button is-primary" onClick={() => void create()}>
                <Icon name="plus" size={14} /> New document
              </button>
            )}
          </div>
        </div>
        {link === 'offline' && (
          <p className="warn-note" role="status">
            The server cannot be reached. This list will come back with it.
          </p>
        )}
        {problem && (
          <p className="warn-note" role="alert">
            {problem}
          </p>
        )}
        {documents === null && !problem && <Skeleton />}
        {documents?.length === 0 && <Welcome mayWrite={mayWrite} />}
        {documents !== null && documents.length > AT_A_GLANCE && (
          <input
            className="field library-search"
            type="search"
            aria-label="Find a document by its title"
            placeholder="Find a document…"
            value={sought}
            onInput={(event) => setSought(event.currentTarget.value)}
          />
        )}
        {sought.trim() !== '' && (
          <p className="quiet" role="status">
            {found.length === 0 ? 'No title matches.' : plural(found.length, 'document')}
          </p>
        )}
        <ul aria-label="Documents">
          {found.map((line) => (
            <Line key={line.id} line={line} onDelete={setDoomed} onRename={setRenaming} />
          ))}
        </ul>
        {hasTrash && me?.role === 'owner' && (
          <button
            type="button"
            className="link to-deleted"
            aria-haspopup="dialog"
            onClick={() => setDeleted(true)}
          >
            Deleted documents
          </button>
        )}
      </main>
      {deleted && (
        <Suspense fallback={null}>
          <DeletedDocuments onClose={() => setDeleted(false)} />
        </Suspense>
      )}
      {doomed && <DeleteDialog line={doomed} onClose={() => setDoomed(null)} />}
      {renaming && <RenameDialog line={renaming} onClose={() => setRenaming(null)} />}
    </div>
  )
}

/** What waits in the documents and at the desk. */
function useWaiting(documents: readonly DocumentLine[]): Waiting {
  const requests = splitByWaiting(useInbox((state) => state.requests)).waiting
  const reviewer = useInboxReviewer()
  const sum = (counts: readonly number[]) => counts.reduce((whole, count) => whole + count, 0)
  return {
    all: sum(documents.map(({ waiting }) => waiting)) + requests.length,
    mine:
      sum(documents.map(({ waitingForYou }) => waitingForYou)) +
      requests.filter((request) => mayDecide(request, reviewer)).length,
  }
}

function Line({
  line,
  onDelete,
  onRename,
}: {
  line: DocumentLine
  onDelete: (line: DocumentLine) => void
  onRename: (line: DocumentLine) => void
}) {
  const path = documentPath(line.id)
  return (
    <li className="document-line">
      <a href={path} onClick={(event) => follow(event, path)}>
        <span dir="auto">{line.title || 'Untitled'}</span>
        <span>
          {isUntouchedSample(line) ? (
            <>
              Sample — try <b>Fix the grammar</b>
            </>
          ) : (
            <>
              {line.path && 'File · '}Changed {timeAgo(line.updatedAt, Date.now())}
            </>
          )}
        </span>
        {line.waiting > 0 && (
          <span className={`waiting-count ${line.waitingForYou > 0 ? '' : 'is-calm'}`}>
            {waitingWords({ mine: line.waitingForYou, all: line.waiting })}
          </span>
        )}
      </a>
      {canWrite(line.role) && (
        <button
          type="button"
          className="icon-button"
          aria-label={`Rename ${line.title}`}
          title="Rename"
          onClick={() => onRename(line)}
        >
          <Icon name="pencil" />
        </button>
      )}
      {line.role === 'owner' && (
        <button
          type="button"
          className="icon-button"
          aria-label={`Delete ${line.title}`}
          title="Delete"
          onClick={() => onDelete(line)}
        >
          <Icon name="trash" />
        </button>
      )}
    </li>
  )
}

function Welcome({ mayWrite }: { mayWrite: boolean }) {
  return (
    <div className="welcome">
      <h2>{mayWrite ? 'Begin with a blank page' : 'Nothing is shared with you yet'}</h2>
      <p>
        Ask the AI for an edit whenever you like. Nothing changes your words until somebody accepts
        it.
      </p>
      {mayWrite && (
        <button type="button" className="button is-primary" onClick={() => void create()}>
          <Icon name="plus" size={14} /> New document
        </button>
      )}
    </div>
  )
}

function DeleteDialog({ line, onClose }: { line: DocumentLine; onClose: () => void }) {
  const remove = () => {
    void deleteDocument(line)
    onClose()
  }
  const foot = (
    <>
      <button type="button" className="button is-danger" onClick={remove}>
        Delete
      </button>
      <button type="button" className="button" onClick={onClose}>
        Keep it
      </button>
    </>
  )
  return (
    <Dialog title={`Delete “${line.title}”?`} onClose={onClose} foot={foot}>
      <p>
        {line.path
          ? `This deletes its history and all pending changes for everyone. The file ${line.path} stays. It can’t be undone.`
          : 'Everyone loses it, and its pending changes are cancelled. An owner can restore it for 30 days.'}
        {line.waiting > 0 && ` ${line.waiting} to review now.`}
      </p>
    </Dialog>
  )
}

function RenameDialog({ line, onClose }: { line: DocumentLine; onClose: () => void }) {
  const [title, setTitle] = useState(line.title)
  const problem = tooLong(title.trim())
  const save = async (event: { preventDefault(): void }) => {
    event.preventDefault()
    if (await renameDocument(line.id, title.trim())) {
      onClose()
      await loadLibrary()
    }
  }
  return (
    <Dialog title="Rename document" onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <label className="hidden-label" htmlFor="new-title">
          Title
        </label>
        <input
          id="new-title"
          className="field"
          autoFocus
          value={title}
          aria-invalid={problem !== undefined}
          aria-describedby={problem && 'title-problem'}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        {problem && (
          <p id="title-problem" className="warn-note" style={{ marginTop: 8 }} role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-foot">
          <button
            type="submit"
            className="button is-primary"
            disabled={title.trim() === '' || problem !== undefined}
          >
            Save
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
