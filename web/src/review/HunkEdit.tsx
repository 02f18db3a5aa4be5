/** The proposed words, to be changed before they are accepted. */
import { useState } from 'react'
import { getCurrent } from '../editor/current.ts'
import type { Hunk } from '../wire/types.ts'
import { acceptHunk } from './decide.ts'
import { asItIs } from './field.ts'
import { proposedText } from './hunk.ts'
import { usePanel } from './panel.ts'

const close = () => usePanel.setState({ editing: null })

export function HunkEdit({ hunk, number }: { hunk: Hunk; number: number }) {
  const [text, setText] = useState(() => {
    const state = getCurrent()?.view.state
    return state ? proposedText(asItIs(state, hunk), state.doc) : hunk.parts.map((part) => part.insert).join('')
  })
  const send = () => void acceptHunk(hunk, text).then((done) => done && close())
  return (
    <div
      className="hunk-edit reason"
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') close()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
      }}
    >
      <textarea className="field" rows={Math.min(8, 1 + Math.ceil(text.length / 38))} aria-label={`Text for change ${number}`} autoFocus value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <div className="hunk-actions">
        <button type="button" className="button is-accept" onClick={send}>Accept edited</button>
        <button type="button" className="button is-quiet" onClick={close}>Cancel</button>
      </div>
    </div>
  )
}
