/** Saving the document as a file, in the format somebody else can open. */
import { useState } from 'react'
import { useDocument } from '../../editor/store.ts'
import { useCapability } from '../../session/store.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { toast } from '../../ui/toasts.ts'
import { FORMATS, type Format, download } from './download.ts'

export function Export() {
  const supported = useCapability('export')
  const { id, phase } = useDocument()
  const [choosing, setChoosing] = useState(false)
  if (!supported || id === null || phase !== 'open') return null
  const save = (format: Format) => {
    setChoosing(false)
    download(id, format).catch((error: unknown) =>
      toast(error instanceof Error ? error.message : 'The document could not be saved as a file.'),
    )
  }
  return (
    <>
      <button
        type="button"
        className="icon-button wide"
        aria-label="Export"
        title="Export"
        aria-haspopup="dialog"
        onClick={() => setChoosing(true)}
      >
        <Icon name="download" size={18} />
      </button>
      {choosing && (
        <Dialog title="Export" onClose={() => setChoosing(false)}>
          <ul className="formats">
            {FORMATS.map(({ format, name, what }) => (
              <li key={format}>
                <button type="button" onClick={() => save(format)}>
                  <b>{name}</b>
                  <span>{what}</span>
                </button>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  )
}
