/** The form that asks for an edit: of the whole document, or of what is selected. */
import { useEffect, useState } from 'react'
import { Form } from '../../ui/Form.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { useOpenDocument, useOpenDocumentFields } from '../../document/useOpenDocument.ts'
import { isCorrector, useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { plural } from '../../ui/timeFormat.ts'
import { ask, cancelRun } from '../composer/ask.ts'
import { choose, maySee, useModel } from '../composer/models.ts'
import { ModeChoice } from '../composer/ModeChoice.tsx'
import { isTooLong, sizeWarning } from '../composer/sizeWarning.ts'
import { modelLabel } from '../usage.ts'
import { useActiveRun } from '../activeRun.ts'
import { canWrite } from '../../session/roles.ts'
import './Composer.css'

const OFFLINE = 'The AI needs a connection.'

export function Composer() {
  const { selection, selectedWords, role } = useOpenDocumentFields(
    'selection',
    'selectedWords',
    'role',
  )
  const length = useOpenDocument(({ snapshot }) => snapshot?.doc.length ?? 0)
  const online = useSession((session) => session.link === 'online')
  const first = useSession((session) => session.me?.models[0])
  const corrects = useSession(({ me }) => isCorrector(me))
  const chosen = useModel((model) => model.chosen)
  const running = useActiveRun()
  const [text, setText] = useState('')
  const [whole, setWhole] = useState(false)
  useEffect(() => setWhole(false), [selection?.from, selection?.to])
  if (!canWrite(role)) return null
  const scope = whole ? null : selection
  const isReady = (typed: string) => online && typed.trim() !== '' && !isTooLong(typed)
  const ready = isReady(text)
  const note = online
    ? sizeWarning({
        length,
        selected: scope && scope.to - scope.from,
        model: chosen ?? first ?? '',
        prompt: text,
      })
    : text !== '' && OFFLINE
  /** A key may come before what was typed has been drawn: it sends what the field holds. */
  const send = (typed: string) => {
    if (!isReady(typed)) return
    void ask(typed.trim(), scope)
    setText('')
  }
  return (
    <Form className="composer" onSubmit={() => send(text)}>
      <label className="hidden-label" htmlFor="composer">
        Ask for an edit
      </label>
      <textarea
        id="composer"
        rows={2}
        value={text}
        placeholder={!online ? OFFLINE : corrects ? 'Ask for a correction…' : 'Ask for an edit…'}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send(event.currentTarget.value)
        }}
      />
      {note && (
        <p className="composer-note" role="status">
          {note}
        </p>
      )}
      <div className="composer-foot">
        <Button
          look="chip"
          className="scope"
          disabled={!selection}
          aria-pressed={selection ? !whole : undefined}
          title={selection ? 'Switch between the selection and the whole document' : undefined}
          onClick={() => setWhole(!whole)}
        >
          {scope ? `Selection · ${plural(selectedWords, 'word')}` : 'Whole document'}
        </Button>
        <ModeChoice />
        <ModelChoice />
        {running ? (
          <Button onClick={() => cancelRun(running.id)}>
            <Icon name="stop" size={13} /> Stop
          </Button>
        ) : (
          <IconButton
            type="submit"
            className={`send ${ready ? 'is-ready' : ''}`}
            label="Ask"
            name="send"
            title="Ask (Enter)"
            disabled={!ready}
          />
        )}
      </div>
    </Form>
  )
}

/** The model that answers: a choice where there are several. */
function ModelChoice() {
  const models = useSession((session) => session.me?.models) ?? []
  const local = useSession((session) => session.me?.local_models) ?? []
  const access = useOpenDocument((state) => state.settings?.modelAccess)
  const chosen = useModel((model) => model.chosen)
  if (models.length === 0) return null
  if (models.length === 1)
    return (
      <span className="model-name" title={`${modelLabel(models[0]!, models)} answers`}>
        {models[0] === 'harper' ? 'Harper' : modelLabel(models[0]!, models)}
      </span>
    )
  const value = chosen !== null && models.includes(chosen) ? chosen : models[0]
  return (
    <select
      className="model"
      aria-label="Model"
      title="Who answers"
      value={value}
      onChange={({ currentTarget: { value: name } }) => choose(name === models[0] ? null : name)}
    >
      {models.map((name) => (
        <option key={name} value={name} disabled={!maySee(name, access, local)}>
          {modelLabel(name, models)}
          {!maySee(name, access, local) && ' (not for this document)'}
        </option>
      ))}
    </select>
  )
}
