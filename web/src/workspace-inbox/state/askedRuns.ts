/** Questions of the desk that are not done: at work, waiting for a decision, or queued. Pure. */
import { shortened } from '../../text/shortened.ts'
import type { AgentEvent } from '../../wire/generated.ts'

export interface AskedRun {
  id: string
  prompt: string
  /** Its last words. */
  text: string
  isOver: boolean
  /** The document in which it waits. */
  document?: string
}

/** The last thing each of our runs said; its end, if that was no success. */
export function hear(runs: readonly AskedRun[], event: AgentEvent): readonly AskedRun[] {
  return runs.some(({ id }) => id === event.requestId)
    ? runs.map((run) => (run.id === event.requestId ? heard(run, event) : run))
    : runs
}

function heard(run: AskedRun, event: AgentEvent): AskedRun {
  const words = (field: string) =>
    typeof event.content[field] === 'string' ? event.content[field] : ''
  if (event.type === 'assistant' && event.subtype === 'text') return { ...run, text: words('text') }
  if (event.type === 'system')
    return {
      ...run,
      text: words('text'),
      ...(words('document_id') && { document: words('document_id') }),
    }
  if (event.type === 'result') {
    const done = event.subtype === 'success' ? run.text || 'Done.' : words('message') || run.text
    return { ...run, isOver: true, text: done }
  }
  return run
}

/** Runs that are not over, and before them the newest that is. */
export const shownRuns = (runs: readonly AskedRun[]): readonly AskedRun[] => {
  const over = runs.findLast(({ isOver }) => isOver)
  return [...(over ? [over] : []), ...runs.filter(({ isOver }) => !isOver)]
}

/** Requests of a run that wait: for us, or for others. */
export type Waits = 'for us' | 'for others' | null

/** One conversation has one run at a time: those behind the first are queued. */
export function stateWords(run: AskedRun, runs: readonly AskedRun[], waits: Waits): string {
  if (run.isOver) return run.text
  const first = runs.find(({ isOver }) => !isOver)
  if (first && first.id !== run.id)
    return `Queued: begins when “${shortened(first.prompt, 40)}” is done.`
  if (waits === 'for us') return 'Waiting for you: decide above.'
  if (waits === 'for others') return 'Waiting for somebody else’s decision.'
  return run.text || 'Working…'
}
