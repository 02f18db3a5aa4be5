import { EditorState } from '@codemirror/state'
import { beforeEach, expect, it, vi } from 'vitest'
import type { AskSelection } from '../../wire/generated.ts'

const calls: { event: string; payload: { context?: { selection?: AskSelection } } }[] = []
let answer: Promise<unknown> = Promise.resolve({})
let state = EditorState.create({ doc: 'One two three.' })

vi.stubGlobal('sessionStorage', { getItem: () => null })
vi.stubGlobal('window', { addEventListener: () => undefined })
vi.mock('../../session/store.ts', () => {
  const me = { sessionId: 's', user: { id: 'u', name: 'Ana' }, models: [], permission_modes: [] }
  const useSession = Object.assign(() => undefined, { getState: () => ({ me, link: 'online' }) })
  const call = (event: string, payload: object) => {
    calls.push({ event, payload })
    return answer
  }
  return { useSession, hasCapability: () => true, wire: { call } }
})
vi.mock('../../document/openDocument.ts', () => ({
  openDocument: () => ({
    id: 'doc',
    view: { state },
    confirmed: { doc: state.doc },
    inServerText: (at: number) => at,
  }),
}))
vi.mock('../../document/allSent.ts', () => ({ allSent: () => Promise.resolve(true) }))
vi.mock('../../review/actions/decide.ts', () => ({ rejectHunk: () => Promise.resolve(true) }))

const { ask, askOnceMore } = await import('./ask.ts')
const { loadTranscript } = await import('../transcript.ts')
const { NO_CHAT, useChat } = await import('../store.ts')
const { useOpenDocument } = await import('../../document/useOpenDocument.ts')

const sent = () => calls.at(-1)?.payload.context?.selection

beforeEach(() => {
  useChat.setState(NO_CHAT)
  answer = Promise.resolve({})
})

it('says with every question where the cursor stands', async () => {
  state = EditorState.create({ doc: 'One two three.', selection: { anchor: 4, head: 7 } })
  await ask('Why?', null)
  expect(sent()).toEqual({ text: '', start: 7, end: 7 })
  await ask('Shorten', { from: 4, to: 7 })
  expect(sent()).toEqual({ text: 'two', start: 4, end: 7 })
})

it('asks once more about the same words', async () => {
  await ask('Shorten', { from: 4, to: 7 })
  const run = useChat.getState().runs[0]!
  state = EditorState.create({ doc: 'Else.' })
  await askOnceMore(run)
  expect(sent()).toEqual({ text: 'two', start: 4, end: 7 })
})

it('shows nothing of a document that was left while its conversation was read', async () => {
  const said = { type: 'user', subtype: 'prompt', content: { text: 'Old' }, requestId: 'run' }
  answer = Promise.resolve({ entries: [{ ...said, sessionId: 's', at: '2026-01-01T00:00:00Z' }] })
  useOpenDocument.setState({ id: 'old' })
  const reading = loadTranscript('old')
  useOpenDocument.setState({ id: 'new' })
  await reading
  expect(useChat.getState().runs).toEqual([])
  await loadTranscript('new')
  expect(useChat.getState().runs).toHaveLength(1)
})
