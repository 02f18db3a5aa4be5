import { expect, it } from 'vitest'
import type { AgentEvent } from '../../wire/generated.ts'
import { type AskedRun, hear, shownRuns, stateWords } from './askedRuns.ts'

const run = (id: string, more: Partial<AskedRun> = {}): AskedRun => ({
  id,
  prompt: `Do ${id}`,
  text: '',
  isOver: false,
  ...more,
})
const event = (requestId: string, type: string, subtype: string, content = {}) =>
  ({ requestId, type, subtype, content }) as unknown as AgentEvent

it('says of each whether it is at work, waits for whom, or is queued', () => {
  const runs = [run('a'), run('b')]
  expect(stateWords(runs[0]!, runs, null)).toBe('Working…')
  expect(stateWords(runs[0]!, runs, 'for us')).toBe('Waiting for you: decide above.')
  expect(stateWords(runs[0]!, runs, 'for others')).toContain('somebody else')
  expect(stateWords(runs[1]!, runs, null)).toBe('Queued: begins when “Do a” is done.')
})

it('goes on to the next when the first is over, and keeps what that said last', () => {
  let runs: readonly AskedRun[] = [run('a'), run('b'), run('c')]
  runs = hear(runs, event('a', 'assistant', 'text', { text: 'Written.' }))
  runs = hear(runs, event('a', 'result', 'success'))
  expect(runs.map((one) => stateWords(one, runs, null))).toEqual([
    'Written.',
    'Working…',
    'Queued: begins when “Do b” is done.',
  ])
  runs = hear(runs, event('b', 'result', 'error', { message: 'The provider is away.' }))
  expect(shownRuns(runs).map(({ id, text }) => [id, text])).toEqual([
    ['b', 'The provider is away.'],
    ['c', ''],
  ])
})

it('is not told of runs of others', () => {
  const runs = [run('a')]
  expect(hear(runs, event('x', 'result', 'success'))).toBe(runs)
})
