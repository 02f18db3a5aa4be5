/** Opening a file of the workspace as a document: a list that follows what is typed. */
import { useEffect, useState } from 'react'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { attempt } from '../session/attempt.ts'
import { useCapability, useSession, wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { toast } from '../ui/toasts.ts'
import type { FileList } from '../wire/generated.ts'
import { documentPath, navigate } from '../navigation/routes.ts'
import { canWrite } from '../session/roles.ts'
import './OpenFile.css'

/** Names shown at once; typing finds the others. */
const SHOWN = 50
/** Typing is over after a pause of this many milliseconds. */
const PAUSE_MS = 150

export function OpenFile() {
  const offered = useCapability('files')
  const role = useSession((session) => session.me?.role)
  const [open, setOpen] = useState(false)
  if (!offered || !role || !canWrite(role)) return null
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="file" size={14} /> Open a file
      </Button>
      {open && <Chooser onClose={() => setOpen(false)} />}
    </>
  )
}

function Chooser({ onClose }: { onClose: () => void }) {
  const [pattern, setPattern] = useState('')
  const found = useFiles(pattern)
  const choose = async (path: string) => {
    const opened = await attempt(wire.call('document:open', { path }))
    if (!opened?.document) return
    onClose()
    navigate(documentPath(opened.document.id))
  }
  const files = found?.files.slice(0, SHOWN) ?? []
  const more = found !== null && (found.isCut || found.files.length > SHOWN)
  return (
    <Dialog title="Open a file" onClose={onClose} className="file-dialog">
      <Form onSubmit={() => files[0] && void choose(files[0].path)}>
        <input
          aria-label="Find a file by its name"
          className="field"
          autoFocus
          placeholder="Find a file by its name…"
          value={pattern}
          onInput={(event) => setPattern(event.currentTarget.value)}
        />
      </Form>
      <ul className="files" aria-label="Files">
        {files.map(({ path, documentId }) => (
          <li key={path}>
            <button type="button" onClick={() => void choose(path)}>
              <span>{path}</span>
              {documentId && <small>opened before</small>}
            </button>
          </li>
        ))}
      </ul>
      <p className="files-note" role="status">
        {found === null
          ? 'Looking…'
          : files.length === 0
            ? 'No text file matches.'
            : more
              ? 'There are more. Type to find them.'
              : ''}
      </p>
    </Dialog>
  )
}

function useFiles(pattern: string): FileList | null {
  const [found, setFound] = useState<FileList | null>(null)
  useEffect(() => {
    let stale = false
    const read = async () => {
      const list = await attempt(wire.call('workspace:files', { pattern }), ({ message }) =>
        toast(message, { about: 'files' }),
      )
      if (list && !stale) setFound(list)
    }
    const look = setTimeout(() => void read(), pattern === '' ? 0 : PAUSE_MS)
    return () => {
      stale = true
      clearTimeout(look)
    }
  }, [pattern])
  return found
}
