/**
 * What is to be said of the file that the document is: it cannot be written, it is gone, or it was
 * changed in the same places.
 */
import { useEffect, useState } from 'react'
import { wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { fileStateMessage, receiveFileState, wordsOfOverruled } from './sync/fileState.ts'
import { useDocument, useDocumentParts } from './store.ts'

export function FileNotes() {
  const { file, phase, overruled } = useDocumentParts('file', 'phase', 'overruled')
  const [shown, setShown] = useState(false)
  useEffect(
    () =>
      wire.on('document:file', (news) => {
        if (news.documentId === useDocument.getState().id) receiveFileState(news)
      }),
    [],
  )
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
          <button type="button" className="button" onClick={() => setShown(true)}>
            Show what stood in the file
          </button>
          <button
            type="button"
            className="button"
            onClick={() => useDocument.setState({ overruled: [] })}
          >
            Dismiss
          </button>
          {shown && (
            <Dialog title="What stood in the file" onClose={() => setShown(false)}>
              {overruled.map(({ disk, kept }, index) => (
                <div key={`${index}${disk}`}>
                  <p>In the file:</p>
                  <blockquote className="recovered-text">
                    {disk || '(nothing: it was removed there)'}
                  </blockquote>
                  <p>Here, and in the file now:</p>
                  <blockquote className="recovered-text">
                    {kept || '(nothing: it was removed here)'}
                  </blockquote>
                  <div className="dialog-foot" style={{ margin: '0 0 18px' }}>
                    <button
                      type="button"
                      className="button"
                      onClick={() => void navigator.clipboard.writeText(disk)}
                    >
                      Copy the file’s words
                    </button>
                  </div>
                </div>
              ))}
            </Dialog>
          )}
        </div>
      )}
    </>
  )
}
