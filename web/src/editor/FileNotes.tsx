/**
 * Notes about the file that the document is: it cannot be written, it is gone, or it was changed in
 * the same places.
 */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/Dialog.tsx'
import type { FileConflict } from '../wire/generated.ts'
import { fileStateMessage, wordsOfOverruled } from '../document/fileState.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'

export function FileNotes() {
  const { file, phase, overruled } = useOpenDocumentFields('file', 'phase', 'overruled')
  const [shown, setShown] = useState(false)
  const words = file && phase === 'open' ? fileStateMessage(file) : undefined
  return (
    <>
      {words && (
        <div className="recovered" role={file?.status === 'failed' ? 'alert' : 'status'}>
          <span>{words}</span>
        </div>
      )}
      {overruled.length > 0 && (
        <div className="recovered" role="alert">
          <span>{wordsOfOverruled(overruled.length)}</span>
          <Button onClick={() => setShown(true)}>Show what stood in the file</Button>
          <Button onClick={() => useOpenDocument.setState({ overruled: [] })}>Dismiss</Button>
          {shown && <OverruledDialog overruled={overruled} onClose={() => setShown(false)} />}
        </div>
      )}
    </>
  )
}

interface OverruledProps {
  overruled: readonly FileConflict[]
  onClose: () => void
}

/** Shows the words of the file where people had changed the same words. */
function OverruledDialog({ overruled, onClose }: OverruledProps) {
  return (
    <Dialog title="What stood in the file" onClose={onClose}>
      {overruled.map(({ disk, kept }, index) => (
        <div key={`${index}${disk}`}>
          <p>In the file:</p>
          <blockquote className="recovered-text" dir="auto">
            {disk || '(nothing: it was removed there)'}
          </blockquote>
          <p>Here, and in the file now:</p>
          <blockquote className="recovered-text" dir="auto">
            {kept || '(nothing: it was removed here)'}
          </blockquote>
          <div className="dialog-foot" style={{ margin: '0 0 18px' }}>
            <Button onClick={() => void copyText(disk)}>Copy the file’s words</Button>
          </div>
        </div>
      ))}
    </Dialog>
  )
}
