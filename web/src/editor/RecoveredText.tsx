/** Words that could not be merged are never thrown away: they are offered back. */
import { useState } from 'react'
import { Dialog } from '../ui/Dialog.tsx'
import { plural } from '../ui/timeFormat.ts'
import { activeDocument } from './sync/activeDocument.ts'
import { useDocument } from './store.ts'

const forget = (text: string) =>
  useDocument.setState(({ recovered }) => ({
    recovered: recovered.filter((other) => other !== text),
  }))

function putBack(text: string): void {
  const view = activeDocument()?.view
  if (!view) return
  view.dispatch(view.state.replaceSelection(text))
  forget(text)
}

export function RecoveredText() {
  const recovered = useDocument((state) => state.recovered)
  const [open, setOpen] = useState(false)
  if (recovered.length === 0) return null
  return (
    <div className="recovered" role="alert">
      <span>
        {plural(recovered.length, 'passage')} you typed {recovered.length === 1 ? 'is' : 'are'} not
        in the text, and kept for you.
      </span>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Show my words
      </button>
      {open && (
        <Dialog title="Your words" onClose={() => setOpen(false)}>
          {recovered.map((text, index) => (
            <div key={`${index}${text}`}>
              <blockquote className="recovered-text">{text}</blockquote>
              <div className="dialog-foot" style={{ margin: '0 0 18px' }}>
                <button type="button" className="button is-primary" onClick={() => putBack(text)}>
                  Insert at the caret
                </button>
                <button
                  type="button"
                  className="button"
                  onClick={() => void navigator.clipboard.writeText(text)}
                >
                  Copy
                </button>
                <button type="button" className="button is-danger" onClick={() => forget(text)}>
                  Throw away
                </button>
              </div>
            </div>
          ))}
        </Dialog>
      )}
    </div>
  )
}
