/** The proposed words, to be changed in their own place before they are accepted. */
import { useState } from 'react'
import { activeDocument } from '../../editor/sync/activeDocument.ts'
import { toast } from '../../ui/toasts.ts'
import { useFocusOnce } from '../../ui/useFocusOnce.ts'
import type { Hunk } from '../../wire/generated.ts'
import { useBusy } from '../state/busy.ts'
import { acceptHunk, EDIT, seenText } from '../state/decide.ts'
import { draftOf, useDraft } from '../drafts/drafts.ts'
import { asItIs } from '../changes/reviewField.ts'
import { editableText } from '../changes/hunk.ts'
import { usePanel } from '../state/panel.ts'
import { useReturnFocus } from '../changes/keyboardFocus.ts'
import { acceptance } from '../state/responses.ts'
import { ModelFeedback } from './ModelFeedback.tsx'

export function HunkEdit({ hunk, number }: { hunk: Hunk; number: number }) {
  const [proposed] = useState(() => {
    const state = activeDocument()?.view.state
    return state
      ? editableText(asItIs(state, hunk), state.doc)
      : hunk.parts.map((part) => part.insert).join('')
  })
  const [text = proposed, keep] = useDraft(draftOf(hunk.id, 'edit'))
  const { leave, stay } = useReturnFocus()
  const field = useFocusOnce<HTMLTextAreaElement>()
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const write = (words: string) => keep(words === proposed ? null : words)
  const close = () => {
    leave()
    usePanel.setState({ editing: null })
  }
  const discard = () => {
    keep(null)
    close()
  }
  /** The words are there when one comes back. */
  const leaveIt = () => {
    if (text !== proposed)
      toast('Your edit is kept. Accepting the change puts it in.', { about: EDIT })
    close()
  }
  const send = () => {
    // The change may be gone before the answer is here.
    leave()
    void acceptHunk(hunk, { text }).then((done) => (done ? close() : stay()))
  }
  return (
    <div
      className="hunk-edit reason"
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') {
          event.preventDefault()
          leaveIt()
        }
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
      }}
    >
      <textarea
        className="field"
        rows={Math.min(12, 1 + Math.ceil(text.length / 58))}
        aria-label={`Text for change ${number}`}
        ref={field}
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <ModelFeedback
        response={acceptance(hunk, { text }, seenText(hunk))}
        otherwise="What was applied, with your words"
      />
      <div className="hunk-actions">
        <button
          type="button"
          data-decides=""
          className="button is-accept"
          disabled={busy}
          onClick={send}
        >
          Accept edited
        </button>
        <button type="button" className="button is-quiet" onClick={discard}>
          {text === proposed ? 'Cancel' : 'Discard edit'}
        </button>
      </div>
    </div>
  )
}
