/** Asking for work in the workspace, and what has become of what was asked. */
import { useState } from 'react'
import { create } from 'zustand'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import { ModeChoice } from '../chat/composer/ModeChoice.tsx'
import { chosenMode } from '../chat/modes.ts'
import { isWaiting } from '../review/state/requests.ts'
import { mayDecide } from '../review/state/permissions.ts'
import { attempt } from '../session/attempt.ts'
import { useSession, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { type AskedRun, hear, shownRuns, stateWords, type Waits } from './state/askedRuns.ts'
import { useInbox } from './state/store.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'
import './PromptBox.css'

/** Outlives the desk's being closed. */
const useAsked = create<{ runs: readonly AskedRun[] }>()(() => ({ runs: [] }))
wire.on('agent_event', (event) => useAsked.setState(({ runs }) => ({ runs: hear(runs, event) })))

async function ask(prompt: string): Promise<boolean> {
  const id = `run_${crypto.randomUUID().replaceAll('-', '')}`
  const asked: AskedRun = { id, prompt, text: '', isOver: false }
  useAsked.setState(({ runs }) => ({ runs: [...shownRuns(runs), asked] }))
  const mode = chosenMode()
  const answer = wire.call('run', {
    prompt,
    requestId: id,
    continue: true,
    ...(mode && { permission_mode: mode }),
  })
  const taken = await attempt(answer, ({ message }) => {
    useAsked.setState(({ runs }) => ({ runs: runs.filter((run) => run.id !== id) }))
    toast(message)
  })
  return taken !== undefined
}

export function PromptBox() {
  const [prompt, setPrompt] = useState('')
  const offline = useSession((session) => session.link !== 'online')
  return (
    <Form
      className="inbox-form inbox-prompt"
      onSubmit={() => {
        if (prompt.trim() !== '') void ask(prompt.trim()).then((done) => done && setPrompt(''))
      }}
    >
      <Asked />
      <div className="inbox-ask">
        <input
          aria-label="Ask for work in the workspace"
          className="field"
          placeholder="Ask for work in the workspace…"
          value={prompt}
          disabled={offline}
          onInput={(event) => setPrompt(event.currentTarget.value)}
        />
        <ModeChoice />
        <Button look="primary" type="submit" disabled={offline || prompt.trim() === ''}>
          Ask
        </Button>
      </div>
    </Form>
  )
}

function Asked() {
  const runs = useAsked((asked) => asked.runs)
  const requests = useInbox((inbox) => inbox.requests)
  const reviewer = useInboxReviewer()
  const waits = (run: AskedRun): Waits => {
    const waiting = Object.values(requests).filter(
      (request) => request.requestId === run.id && isWaiting(request),
    )
    if (waiting.length === 0) return null
    return waiting.some((request) => mayDecide(request, reviewer)) ? 'for us' : 'for others'
  }
  return (
    <div role="status">
      {runs.length > 0 && (
        <ul className="inbox-asked-runs" aria-label="What you asked for">
          {shownRuns(runs).map((run) => (
            <AskedLine key={run.id} run={run} words={stateWords(run, runs, waits(run))} />
          ))}
        </ul>
      )}
    </div>
  )
}

function AskedLine({ run, words }: { run: AskedRun; words: string }) {
  return (
    <li className="inbox-report">
      <b>{run.prompt}</b>
      <span>
        {words}{' '}
        {run.document && !run.isOver && (
          <Link to={documentPath(run.document)} onClick={() => useInbox.setState({ open: false })}>
            Look at it there
          </Link>
        )}
      </span>
      {!run.isOver && (
        <Button
          aria-label={`Stop: ${run.prompt}`}
          onClick={() => void wire.call('cancel', { requestId: run.id }).catch(() => undefined)}
        >
          Stop
        </Button>
      )}
    </li>
  )
}
