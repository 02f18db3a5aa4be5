/** Saving the document as a file, in a format that others can open. */
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toasts.ts'
import { FORMATS, type Format, download } from './download.ts'
import './Export.css'

export function ExportDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const save = (format: Format) => {
    onClose()
    download(id, format).catch((error: unknown) =>
      toast(error instanceof Error ? error.message : 'The document could not be saved as a file.'),
    )
  }
  return (
    <Dialog title="Export" onClose={onClose}>
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
  )
}
