/** Asking for work in the workspace, and what the AI said last. */
import { useEffect, useState } from 'react'
import { documentPath, follow } from '../app/routes.ts'
import { ModeChoice } from '../chat/ModeChoice.tsx'
import { chosenMode } from '../chat/modes.ts'
import { useSession, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import type { AgentEvent } from '../wire/generated.ts'
import { useInbox } from './state/store.ts'

interface Said {
  run: string
  text: string
  over: boolean
  document?: string
}

export function PromptBox() {
  const [prompt, setPrompt] = useState('')
  const [said, setSaid] = useState<Said | null>(null)
  const offline = useSession((session) => session.link !== 'online')
  useEffect(() => wire.on('agent_event', (event) => setSaid((before) => hear(before, event))), [])
  const send = async () => {
    const requestId = `run_${crypto.randomUUID().replaceAll('-', '')}`
    setSaid({ run: requestId, text: '', over: false })
    try {
      const mode = chosenMode()
      await wire.call('run', {
        prompt: prompt.trim(),
        requestId,
        continue: true,
        ...(mode && { permission_mode: mode }),
      })
      setPrompt('')
    } catch (error) {
      setSaid(null)
      toast(error instanceof Error ? error.message : 'The server did not answer.')
    }
  }
  return (
    <form
      className="inbox-form inbox-prompt"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {said && (
        <p className="inbox-report" role="status">
          {said.text || 'Working…'}
          {said.document && !said.over && (
            <>
              {' '}
              <a
                href={documentPath(said.document)}
                onClick={(event) => {
                  useInbox.setState({ open: false })
                  follow(event, documentPath(said.document!))
                }}
              >
                Look at it there
              </a>
            </>
          )}
        </p>
      )}
      <label className="hidden-label" htmlFor="inbox-prompt">
        Ask for work in the workspace
      </label>
      <div className="inbox-ask">
        <input
          id="inbox-prompt"
          className="field"
          placeholder="Ask for work in the workspace…"
          value={prompt}
          disabled={offline}
          onInput={(event) => setPrompt(event.currentTarget.value)}
        />
        <ModeChoice />
        {said && !said.over ? (
          <button
            type="button"
            className="button"
            onClick={() => void wire.call('cancel', { requestId: said.run }).catch(() => undefined)}
          >
            Stop
          </button>
        ) : (
          <button
            type="submit"
            className="button is-primary"
            disabled={offline || prompt.trim() === ''}
          >
            Ask
          </button>
        )}
      </div>
    </form>
  )
}

/** The last thing our run said; its end, if that was no success. */
function hear(before: Said | null, event: AgentEvent): Said | null {
  if (before === null || event.requestId !== before.run) return before
  const words = (field: string) =>
    typeof event.content[field] === 'string' ? event.content[field] : ''
  if (event.type === 'assistant' && event.subtype === 'text')
    return { ...before, text: words('text') }
  if (event.type === 'system')
    return {
      ...before,
      text: words('text'),
      ...(words('document_id') && { document: words('document_id') }),
    }
  if (event.type === 'result')
    return {
      ...before,
      over: true,
      text: event.subtype === 'success' ? before.text || 'Done.' : words('message') || before.text,
    }
  return before
}
