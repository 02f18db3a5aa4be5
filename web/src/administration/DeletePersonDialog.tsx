/** Deletes a person's data, once an owner has seen what goes, what is renamed and what stays. */
import { useEffect, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Checkbox } from '../ui/Form.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { toast } from '../ui/toasts.ts'
import type { PersonPreview } from '../wire/generated.ts'
import { deletionWords } from './wording.ts'
import './DeletePersonDialog.css'

interface Props {
  id: string
  name: string
  onClose: () => void
  onDeleted: () => void
}

export function DeletePersonDialog({ id, name, onClose, onDeleted }: Props) {
  const [preview, setPreview] = useState<PersonPreview | null>(null)
  const [withDocuments, setWithDocuments] = useState(false)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    void attempt(wire.call('person:preview', { id })).then((found) =>
      found ? setPreview(found) : onClose(),
    )
    // Asked once: the dialog belongs to one person.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id])
  const remove = async () => {
    setBusy(true)
    const privateDocuments = withDocuments ? 'delete' : 'keep'
    const deletion = await attempt(wire.call('person:delete', { id, privateDocuments }))
    setBusy(false)
    if (!deletion) return
    toast(
      deletion.state === 'deleted'
        ? `The data of ${name} was deleted.`
        : `${name} has no access any more. The rest is being deleted.`,
    )
    onDeleted()
    onClose()
  }
  const canDelete = preview !== null && preview.obstacle === null
  return (
    <Dialog
      title={`Delete ${name}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Keep</Button>
          <Button look="danger" disabled={!canDelete || isBusy} onClick={() => void remove()}>
            {isBusy ? 'Deleting…' : 'Delete for ever'}
          </Button>
        </>
      }
    >
      {preview === null ? (
        <Skeleton />
      ) : (
        <PreviewFacts
          preview={preview}
          withDocuments={withDocuments}
          onWithDocuments={setWithDocuments}
        />
      )}
    </Dialog>
  )
}

interface PreviewFactsProps {
  preview: PersonPreview
  withDocuments: boolean
  onWithDocuments: (wish: boolean) => void
}

function PreviewFacts({ preview, withDocuments, onWithDocuments }: PreviewFactsProps) {
  const { obstacle, privateDocuments } = preview
  if (obstacle !== null) return <p className="warn-note">{obstacle}.</p>
  return (
    <>
      <dl className="deletion-facts">
        {deletionWords(preview).map(({ head, text }) => (
          <div key={head}>
            <dt>{head}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {privateDocuments.length > 0 && (
        <>
          <p>Only this person can see:</p>
          <ul aria-label="Private documents">
            {privateDocuments.map((document) => (
              <li key={document.id}>{document.title}</li>
            ))}
          </ul>
          <Checkbox checked={withDocuments} onChange={onWithDocuments}>
            Delete these too
          </Checkbox>
        </>
      )}
      <p className="quiet">
        This cannot be undone. Backups that were made before still have everything.
      </p>
    </>
  )
}
