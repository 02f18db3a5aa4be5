/** The proposed words, to be changed in their own place before they are accepted. */
import { Button } from '../../../ui/Button.tsx'
import { isolateHistory } from '@codemirror/commands'
import type { EditorState } from '@codemirror/state'
import { useState } from 'react'
import { openDocument } from '../../../document/openDocument.ts'
import { allSent } from '../../../document/allSent.ts'
import { toast } from '../../../ui/toasts.ts'
import { useFocusOnce } from '../../../ui/useFocusOnce.ts'
import type { Hunk } from '../../../wire/generated.ts'
import { useBusy } from '../../stores/busy.ts'
import { acceptHunk, EDIT_TOAST, seenText } from '../../actions/decide.ts'
import { useDraft } from '../../stores/drafts.ts'
import { editableText, editRange } from '../../state/hunk.ts'
import { asItIs, hunksOf } from '../../text/reviewField.ts'
import { divide, type Sentence, sentenceOf } from '../../state/sentence.ts'
import { usePanel } from '../../stores/panel.ts'
import { useReturnFocus } from '../../hooks/keyboardFocus.ts'
import { acceptance } from '../../state/responses.ts'
import { ModelFeedback } from './ModelFeedback.tsx'
import { draftOf } from '../../state/drafts.ts'
import './HunkEdit.css'

interface Props {
  hunk: Hunk
  number: number
  /** The editor's state when the edit was opened. */
  opened: EditorState
}

export function HunkEdit({ hunk, number, opened }: Props) {
  const [proposed] = useState(() => editableText(asItIs(opened, hunk), opened.doc))
  const [text = proposed, keep] = useDraft(draftOf(hunk.id, 'edit'))
  // The whole sentence is edited, not the part of it that the AI changes.
  const [sentence] = useState(() =>
    sentenceOf(asItIs(opened, hunk), opened.doc, hunksOf(opened), text),
  )
  const [whole, setWhole] = useState(sentence.before + sentence.middle + sentence.after)
  const { leave, stay } = useReturnFocus()
  const field = useFocusOnce<HTMLTextAreaElement>()
  const busy = useBusy((state) => state.ids.has(hunk.id))
  const write = (words: string) => {
    setWhole(words)
    const { middle } = divide(sentence, words)
    keep(middle === proposed ? null : middle)
  }
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
    typeAround(hunk, sentence, divide(sentence, whole))
    if (text !== proposed) toast('Edit saved. Accept to use it.', { about: EDIT_TOAST })
    close()
  }
  const send = () => {
    typeAround(hunk, sentence, divide(sentence, whole))
    // The change may be gone before the answer is here.
    leave()
    void allSent()
      .then(() => acceptHunk(hunk, { text }))
      .then((done) => (done ? close() : stay()))
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
        rows={Math.min(12, 1 + Math.ceil(whole.length / 58))}
        aria-label={`Text for change ${number}`}
        ref={field}
        value={whole}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <ModelFeedback
        response={acceptance(hunk, { text }, seenText(hunk))}
        otherwise="What was applied, with your words"
      />
      <div className="hunk-actions">
        <Button look="accept" data-decides="" disabled={busy} onClick={send}>
          Accept edited
        </Button>
        <Button look="quiet" onClick={discard}>
          {text === proposed && whole === sentence.before + sentence.middle + sentence.after
            ? 'Cancel'
            : 'Discard edit'}
        </Button>
      </div>
    </div>
  )
}

/** Types the words edited beside the change into the text, as one's own. */
function typeAround(hunk: Hunk, old: Sentence, now: Sentence): void {
  if (old.before === now.before && old.after === now.after) return
  const view = openDocument()?.view
  if (!view) return
  const { doc } = view.state
  const { from, to } = editRange(asItIs(view.state, hunk))
  const [start, end] = [from - old.before.length, to + old.after.length]
  if (doc.sliceString(start, from) !== old.before || doc.sliceString(to, end) !== old.after)
    return toast('The words around this change were changed meanwhile. Yours are not put in there.')
  view.dispatch({
    changes: [
      ...(old.before === now.before ? [] : [{ from: start, to: from, insert: now.before }]),
      ...(old.after === now.after ? [] : [{ from: to, to: end, insert: now.after }]),
    ],
    userEvent: 'input',
    annotations: isolateHistory.of('full'),
  })
}
