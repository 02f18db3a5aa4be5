/** Deleted documents: each can be restored for some weeks, or deleted forever. */
import { useEffect, useState } from 'react'
import { wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { plural, timeAgo } from '../ui/timeFormat.ts'
import { CallError } from '../wire/socket.ts'
import type { DeletedDocument } from '../wire/generated.ts'
import { purgeDocuments, recoverDocument } from './library.ts'
import './DeletedDocuments.css'

export function DeletedDocuments({ onClose }: { onClose: () => void }) {
  const { documents, problem, load } = useTrash()
  const [doomed, setDoomed] = useState<DeletedDocument | 'all' | null>(null)
  const recover = async (document: DeletedDocument) => {
    await recoverDocument(document)
    await load()
  }
  const purge = async (only?: DeletedDocument) => {
    setDoomed(null)
    await purgeDocuments(only?.id)
    await load()
  }
  if (doomed)
    return (
      <Purge
        what={doomed === 'all' ? plural(documents?.length ?? 0, 'document') : `“${doomed.title}”`}
        onClose={() => setDoomed(null)}
        onPurge={() => void purge(doomed === 'all' ? undefined : doomed)}
      />
    )
  return (
    <Dialog
      title="Deleted documents"
      onClose={onClose}
      foot={
        <>
          {documents !== null && documents.length > 0 && (
            <button type="button" className="button is-danger" onClick={() => setDoomed('all')}>
              Empty…
            </button>
          )}
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </>
      }
    >
      {problem && (
        <p className="warn-note" role="alert">
          {problem}
        </p>
      )}
      <p>
        A deleted document can be restored for 30 days, with its history. Changes that waited for
        review were cancelled.
      </p>
      {documents?.length === 0 && <p className="quiet">Nothing was deleted in that time.</p>}
      <ul className="deleted" aria-label="Deleted documents">
        {documents?.map((document) => (
          <li key={document.id}>
            <span>
              <b>{document.title}</b>
              <small>
                Deleted {timeAgo(document.deletedAt, Date.now())} · kept until{' '}
                {day(document.recoverableUntil)}
              </small>
            </span>
            <button
              type="button"
              className="button"
              aria-label={`Restore ${document.title}`}
              onClick={() => void recover(document)}
            >
              Restore
            </button>
            <button
              type="button"
              className="button is-quiet"
              aria-label={`Delete forever ${document.title}`}
              onClick={() => setDoomed(document)}
            >
              Delete forever…
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

interface PurgeProps {
  what: string
  onClose: () => void
  onPurge: () => void
}

function Purge({ what, onClose, onPurge }: PurgeProps) {
  const foot = (
    <>
      <button type="button" className="button is-danger" onClick={onPurge}>
        Delete forever
      </button>
      <button type="button" className="button" onClick={onClose}>
        Keep
      </button>
    </>
  )
  return (
    <Dialog title={`Delete ${what} forever?`} onClose={onClose} foot={foot}>
      <p>Nobody can restore it after that. The server’s database keeps its log.</p>
    </Dialog>
  )
}

function useTrash() {
  const [documents, setDocuments] = useState<readonly DeletedDocument[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = async () => {
    try {
      setDocuments((await wire.call('trash:list', {})).documents)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      setProblem(error.message)
    }
  }
  useEffect(() => void load(), [])
  return { documents, problem, load }
}

const day = (at: string) => new Date(at).toLocaleDateString([], { day: 'numeric', month: 'long' })
