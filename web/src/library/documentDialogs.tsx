/** Dialogs that delete or rename a document. */
import { Button } from '../ui/Button.tsx'
import type { DocumentLine } from '../wire/generated.ts'
import { deleteDocument, renameDocument, loadLibrary } from './library.ts'
import { Form } from '../ui/Form.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useState } from 'react'
import { tooLong } from '../text/title.ts'

export function DeleteDialog({ line, onClose }: { line: DocumentLine; onClose: () => void }) {
  const remove = () => {
    void deleteDocument(line)
    onClose()
  }
  const foot = (
    <>
      <Button look="danger" onClick={remove}>
        Delete
      </Button>
      <Button onClick={onClose}>Keep it</Button>
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

export function RenameDialog({ line, onClose }: { line: DocumentLine; onClose: () => void }) {
  const [title, setTitle] = useState(line.title)
  const problem = tooLong(title.trim())
  const save = async () => {
    if (await renameDocument(line.id, title.trim())) {
      onClose()
      await loadLibrary()
    }
  }
  return (
    <Dialog title="Rename document" onClose={onClose}>
      <Form onSubmit={() => void save()}>
        <input
          aria-label="Title"
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
          <Button
            look="primary"
            type="submit"
            disabled={title.trim() === '' || problem !== undefined}
          >
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </Form>
    </Dialog>
  )
}
