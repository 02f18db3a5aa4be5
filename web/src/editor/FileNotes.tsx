/**
 * Notes about the file that the document is: it cannot be written, it is gone, or it was changed in
 * the same places.
 */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'
import { fileStateMessage, wordsOfOverruled } from '../document/fileState.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'

const OverruledDialog = lazyPart(() =>
  import('./OverruledDialog.tsx').then((all) => all.OverruledDialog),
)

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
