/** All documents: open, make, rename and delete them. */
import { useEffect, useState } from 'react'
import { Problem } from '../ui/Problem.tsx'
import { Button } from '../ui/Button.tsx'
import { InboxButton } from '../workspace-inbox/InboxButton.tsx'
import { useCapability, useSession, wire } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'
import { plural } from '../ui/timeFormat.ts'
import type { DocumentLine } from '../wire/generated.ts'
import { loadLibrary, search, useLibrary } from './library.ts'
import { AccountButton } from '../account/AccountButton.tsx'
import { ImportFiles } from './ImportFiles.tsx'
import { OpenFile } from './OpenFile.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Share } from '../sharing/Share.tsx'
import { isNotifying } from '../account/notifications.ts'
import { useTabTitle } from '../navigation/tabTitle.ts'
import { canWrite } from '../session/roles.ts'
import { LibraryLine } from './LibraryLine.tsx'
import { DeleteDialog, RenameDialog } from './documentDialogs.tsx'
import { create, Welcome } from './Welcome.tsx'
import { useWaiting } from './useWaiting.ts'
import { ServerLink } from './ServerLink.tsx'
import './Library.css'

const DeletedDocuments = lazyPart(() =>
  import('./DeletedDocuments.tsx').then((all) => all.DeletedDocuments),
)

/** Documents that are seen at a glance; of more, the list can be searched. */
const AT_A_GLANCE = 7
/**
 * The server does not announce what waits in documents that are not open: this page asks while it
 * is looked at, and for people who want to be notified.
 */
const REFRESH_MS = 20_000

export function Library() {
  const { documents, problem } = useLibrary()
  const [sought, setSought] = useState('')
  useTabTitle('', useWaiting(documents ?? []))
  const { link, me } = useSession()
  const [deleting, setDeleting] = useState<DocumentLine | null>(null)
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
              <Button look="primary" onClick={() => void create()}>
                <Icon name="plus" size={14} /> New document
              </Button>
            )}
          </div>
        </div>
        {link === 'offline' && (
          <p className="warn-note" role="status">
            The server cannot be reached. This list will come back with it.
          </p>
        )}
        <Problem words={problem} />
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
            <LibraryLine key={line.id} line={line} onDelete={setDeleting} onRename={setRenaming} />
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
      {deleted && <DeletedDocuments onClose={() => setDeleted(false)} />}
      {deleting && <DeleteDialog line={deleting} onClose={() => setDeleting(null)} />}
      {renaming && <RenameDialog line={renaming} onClose={() => setRenaming(null)} />}
    </div>
  )
}
