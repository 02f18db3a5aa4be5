/** The field in which a comment is written: kept as a draft until the server has it. */
import { type KeyboardEvent, useId, useState } from 'react'
import { useSession } from '../../session/store.ts'
import { Button } from '../../ui/Button.tsx'
import { MOD } from '../../ui/keyNames.ts'
import { useFocusOnce } from '../../ui/useFocusOnce.ts'
import { send } from '../actions/send.ts'
import type { Place } from '../state/drafts.ts'
import { AI, mentionsIn } from '../state/mentions.ts'
import { lengthNote, refusedBefore } from '../state/rights.ts'
import type { CommentThread } from '../../wire/generated.ts'
import { draftOf, forgetDraft, keepDraft } from '../stores/drafts.ts'
import { MentionList } from './MentionList.tsx'
import { useMentions } from './useMentions.ts'
import { usePeople } from './usePeople.ts'
import './CommentField.css'

interface Props {
  place: Place
  label: string
  /** The word on the button that sends it. */
  action: string
  initial?: string
  /** Set for a reply. */
  thread?: CommentThread
  takesFocus?: boolean
  onClose: () => void
  onSent?: (thread: CommentThread) => void
}

export function CommentField(props: Props) {
  const { place, label, action, initial = '', thread, takesFocus = false, onClose } = props
  const [kept] = useState(() => draftOf(place))
  const [text, setText] = useState(kept?.text ?? initial)
  const [picked, setPicked] = useState(kept?.picked ?? [])
  const [said, setSaid] = useState(kept?.failed ?? '')
  const [isBusy, setBusy] = useState(false)
  const offline = useSession(({ link }) => link !== 'online')
  const people = usePeople()
  const field = useFocusOnce<HTMLTextAreaElement>(takesFocus)
  const id = useId()
  const write = (now: string, chosen = picked) => {
    setText(now)
    setSaid('')
    keepDraft({ place, text: now === initial ? '' : now, picked: chosen })
  }
  const names = useMentions(field, people, (now, person) => {
    setPicked([...picked, person])
    write(now, [...picked, person])
  })
  const refused = refusedBefore(text, thread)
  const isReady = !isBusy && !offline && refused === null && text.trim() !== ''
  const submit = async () => {
    if (!isReady) return
    setBusy(true)
    const mentions = mentionsIn(text, people, picked)
    const sent = await send(place, text.trim(), mentions)
    setBusy(false)
    if ('failed' in sent) {
      setSaid(sent.failed)
      return keepDraft({ place, text, picked, failed: sent.failed })
    }
    forgetDraft(place)
    setText('')
    setSaid(mentions.includes(AI.id) ? 'Sent. The AI answers here.' : 'Sent.')
    props.onSent?.(sent.thread)
  }
  const press = (event: KeyboardEvent) => {
    if (names.press(event)) return event.preventDefault()
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit()
    else if (event.key === 'Escape') onClose()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const note = refused ?? (offline && text !== '' ? OFFLINE : said)
  return (
    <form
      className="comment-field"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <textarea
        ref={field}
        className="field"
        rows={thread && text === '' ? 1 : 3}
        aria-label={label}
        placeholder={`${label}…`}
        value={text}
        aria-autocomplete="list"
        aria-invalid={refused !== null}
        {...names.attributes(id)}
        onInput={(event) => {
          write(event.currentTarget.value)
          names.look()
        }}
        onKeyDown={press}
        onBlur={names.close}
      />
      <MentionList id={id} names={names} />
      <p
        className={note === '' || note.startsWith('Sent.') ? 'hidden-label' : 'warn-note'}
        role="status"
      >
        {note}
      </p>
      {(text !== '' || takesFocus) && (
        <div className="thread-foot">
          <Button type="submit" look="primary" disabled={!isReady}>
            {action} <kbd data-keys={`${MOD} ↵`} />
          </Button>
          <Button look="quiet" onClick={onClose}>
            Close
          </Button>
          <span className="card-note">{lengthNote(text)}</span>
        </div>
      )}
    </form>
  )
}

const OFFLINE = 'You are offline. It is kept as a draft.'
