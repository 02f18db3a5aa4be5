/** Deleted documents: each can be restored for some weeks, or deleted forever. */
import { useEffect, useState } from 'react'
import { Problem } from '../ui/Problem.tsx'
import { Button } from '../ui/Button.tsx'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { plural, timeAgo } from '../ui/timeFormat.ts'
import type { DeletedDocument } from '../wire/generated.ts'
import { recoverDocument } from './library.ts'
import './DeletedDocuments.css'

export function DeletedDocuments({ onClose }: { onClose: () => void }) {
  const { documents, problem, load } = useTrash()
  const [doomed, setDoomed] = useState<DeletedDocument | 'all' | null>(null)
  const recover = async (document: DeletedDocument) => {
    await recoverDocument(document)
    await load()
  }
  const purge = async (what: DeletedDocument | 'all') => {
    setDoomed(null)
    await attempt(wire.call('trash:empty', what === 'all' ? {} : { documentId: what.id }))
    await load()
  }
  if (doomed) {
    const what = doomed === 'all' ? plural(documents?.length ?? 0, 'document') : `“${doomed.title}”`
    const foot = (
      <>
        <Button look="danger" onClick={() => void purge(doomed)}>
          Delete forever
        </Button>
        <Button onClick={() => setDoomed(null)}>Keep</Button>
      </>
    )
    return (
      <Dialog title={`Delete ${what} forever?`} onClose={() => setDoomed(null)} foot={foot}>
        <p>Nobody can restore it after that. The server’s database keeps its log.</p>
      </Dialog>
    )
  }
  return (
    <Dialog
      title="Deleted documents"
      onClose={onClose}
      foot={
        <>
          {documents !== null && documents.length > 0 && (
            <Button look="danger" onClick={() => setDoomed('all')}>
              Empty…
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      <Problem words={problem} />
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
            <Button aria-label={`Restore ${document.title}`} onClick={() => void recover(document)}>
              Restore
            </Button>
            <Button
              look="quiet"
              aria-label={`Delete forever ${document.title}`}
              onClick={() => setDoomed(document)}
            >
              Delete forever…
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function useTrash() {
  const [documents, setDocuments] = useState<readonly DeletedDocument[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = async () => {
    const trash = await attempt(wire.call('trash:list', {}), ({ message }) => setProblem(message))
    if (trash) setDocuments(trash.documents)
  }
  useEffect(() => void load(), [])
  return { documents, problem, load }
}

const day = (at: string) => new Date(at).toLocaleDateString([], { day: 'numeric', month: 'long' })
