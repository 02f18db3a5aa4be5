/** Where an edit is asked for: of the whole document, or of what is selected. */
import { useEffect, useState } from 'react'
import { canWrite, useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { many } from '../ui/when.ts'
import { ask, cancelRun } from './ask.ts'
import { useWorking } from './working.ts'

export function Composer() {
  const { selection, selectedWords, role } = useDocument()
  const online = useSession((session) => session.link === 'online')
  const running = useWorking()
  const [text, setText] = useState('')
  const [whole, setWhole] = useState(false)
  useEffect(() => setWhole(false), [selection?.from, selection?.to])
  if (!canWrite(role)) return null
  const scope = whole ? null : selection
  const ready = online && text.trim() !== ''
  const send = () => {
    if (!ready) return
    void ask(text.trim(), scope)
    setText('')
  }
  return (
    <form className="composer" onSubmit={(event) => { event.preventDefault(); send() }}>
      <label className="hidden-label" htmlFor="composer">Ask for an edit</label>
      <textarea
        id="composer" rows={2} value={text} disabled={!online} placeholder={online ? 'Ask for an edit…' : 'The AI is back when you are online.'}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <div className="composer-foot">
        <button type="button" className="chip scope" disabled={!selection} aria-pressed={selection ? !whole : undefined} title={selection ? 'Switch between the selection and the whole document' : undefined} onClick={() => setWhole(!whole)}>
          {scope ? `Selection · ${many(selectedWords, 'word')}` : 'Whole document'}
        </button>
        {running ? (
          <button type="button" className="button" onClick={() => cancelRun(running.id)}>
            <Icon name="stop" size={13} /> Stop
          </button>
        ) : (
          <button type="submit" className={`icon-button send ${ready ? 'is-ready' : ''}`} aria-label="Ask" title="Ask (Enter)" disabled={!ready}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  )
}
