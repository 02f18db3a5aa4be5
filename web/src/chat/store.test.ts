import { expect, it } from 'vitest'
import type { AgentEvent, ClaudeResponse } from '../wire/generated.ts'
import {
  type Chat,
  answered,
  asked,
  began,
  applyAgentEvent,
  joined,
  remembers,
  streamed,
  working,
} from './store.ts'

const NONE: Chat = { runs: [], starts: [] }
const AT = '2026-01-01T00:00:00Z'
const event = (
  type: string,
  subtype: string,
  content: Record<string, unknown> = {},
): AgentEvent => ({
  type,
  subtype,
  content,
  sessionId: 's',
  requestId: 'run',
  documentId: 'd',
  at: AT,
})
const chunk = (text: string) => ({ sessionId: 's', requestId: 'run', text })

it('replaces what was streamed by the finished block', () => {
  let chat = streamed(streamed(NONE, chunk('I read '), AT), chunk('it.'), AT)
  expect(chat.runs[0]?.entries).toEqual([{ kind: 'text', text: 'I read it.', open: true }])
  chat = applyAgentEvent(chat, event('assistant', 'text', { text: 'I read it.' }))
  chat = streamed(chat, chunk('Done.'), AT)
  expect(chat.runs[0]?.entries.map((entry) => entry.kind === 'text' && entry.text)).toEqual([
    'I read it.',
    'Done.',
  ])
})

it('forgets what was streamed and not finished when the model begins anew', () => {
  const said = applyAgentEvent(NONE, event('assistant', 'text', { text: 'One.' }))
  const chat = began(
    streamed(said, chunk('half a sen'), AT),
    { sessionId: 's', requestId: 'run' },
    AT,
  )
  expect(chat.runs[0]?.entries).toEqual([{ kind: 'text', text: 'One.', open: false }])
})

it('shows the same run to those who did not ask', () => {
  const chat = applyAgentEvent(
    NONE,
    event('user', 'prompt', { text: 'Fix it', by: { id: 'u', name: 'Ana' } }),
  )
  expect(chat.runs[0]).toMatchObject({ prompt: 'Fix it', author: 'Ana', status: 'running' })
})

it('joins a tool call with its result', () => {
  const called = applyAgentEvent(
    NONE,
    event('assistant', 'tool_use', { id: 't', name: 'update_selection', input: {} }),
  )
  const chat = applyAgentEvent(
    called,
    event('user', 'tool_result', {
      tool_use_id: 't',
      content: 'Invalid selection range',
      is_error: true,
    }),
  )
  expect(chat.runs[0]?.entries).toEqual([
    {
      kind: 'tool',
      id: 't',
      name: 'update_selection',
      result: 'Invalid selection range',
      failed: true,
    },
  ])
})

it('says in which other document a call waits, until it has its result', () => {
  const called = applyAgentEvent(
    NONE,
    event('assistant', 'tool_use', { id: 't', name: 'update_document_by_id', input: {} }),
  )
  const waits = applyAgentEvent(
    called,
    event('system', 'waiting', { tool_use_id: 't', title: 'Glossary', status: 'pending' }),
  )
  expect(waits.runs[0]?.entries[0]).toMatchObject({ id: 't', waits: 'Glossary', result: null })
  const ended = applyAgentEvent(
    waits,
    event('user', 'tool_result', { tool_use_id: 't', content: '“Glossary” (d): approved.' }),
  )
  expect(ended.runs[0]?.entries[0]).toMatchObject({ result: '“Glossary” (d): approved.' })
  expect(
    applyAgentEvent(
      called,
      event('system', 'waiting', { tool_use_id: 'other', title: 'Glossary' }),
    ),
  ).toEqual(called)
})

it('takes a conversation tool for an answer', () => {
  const chat = applyAgentEvent(
    NONE,
    event('assistant', 'tool_use', {
      id: 't',
      name: 'respond_conversation_only',
      input: { response: 'Hello.' },
    }),
  )
  expect(chat.runs[0]?.entries).toEqual([{ kind: 'text', text: 'Hello.', open: false }])
})

it('ends once, with the reason', () => {
  const response: ClaudeResponse = {
    sessionId: 's',
    requestId: 'run',
    conversationMessage: '',
    updateType: 'none',
    timestamp: AT,
    error: { code: 'model_error', message: 'The model is away.' },
  }
  expect(answered(applyAgentEvent(NONE, event('user', 'prompt')), response).runs[0]).toMatchObject({
    status: 'error',
    problem: 'The model is away.',
  })
  const done = applyAgentEvent(NONE, event('result', 'cancelled'))
  expect(answered(done, response).runs[0]?.status).toBe('cancelled')
})

it('knows what a run used, if tokens were counted', () => {
  const content = {
    message: 'Done',
    model: 'claude-x',
    usage: {
      input_tokens: 1,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 3,
      output_tokens: 4,
    },
    cost_usd: 0.5,
  }
  expect(applyAgentEvent(NONE, event('result', 'success', content)).runs[0]?.spent).toEqual({
    model: 'claude-x',
    input: 6,
    cached: 3,
    output: 4,
    dollars: 0.5,
  })
  expect(
    applyAgentEvent(NONE, event('result', 'success', { message: 'Done' })).runs[0]?.spent,
  ).toBeNull()
  expect(applyAgentEvent(NONE, event('result', 'error', { usage: 7 })).runs[0]?.spent).toBeNull()
})

it('puts a run together that was read in two parts', () => {
  const known = applyAgentEvent(
    applyAgentEvent(NONE, event('assistant', 'text', { text: 'Two.' })),
    event('result', 'success'),
  )
  const page = applyAgentEvent(
    applyAgentEvent(NONE, event('user', 'prompt', { text: 'Why?', name: 'Ana' })),
    event('assistant', 'text', { text: 'One.' }),
  )
  const chat = joined({ ...page, before: 'x' }, { ...known, before: 'y' })
  expect(chat.before).toBe('x')
  expect(chat.runs).toHaveLength(1)
  expect(chat.runs[0]).toMatchObject({
    prompt: 'Why?',
    author: 'Ana',
    status: 'success',
    entries: [{ text: 'One.' }, { text: 'Two.' }],
  })
})

it('says what people should know about an answer', () => {
  const chat = applyAgentEvent(
    NONE,
    event('result', 'success', { message: 'Done', notice: 'Only a part was read' }),
  )
  expect(chat.runs[0]?.notice).toBe('Only a part was read')
  expect(
    applyAgentEvent(NONE, event('result', 'success', { message: 'Done' })).runs[0],
  ).not.toHaveProperty('notice')
})

it('is at work only while it does not wait for people', () => {
  const chat = asked(NONE, { id: 'run', sessionId: 's', prompt: 'x', author: 'Ana', at: AT })
  expect(working(chat, 's', new Set())?.id).toBe('run')
  expect(working(chat, 's', new Set(['run']))).toBeUndefined()
  expect(working(chat, 'other', new Set())).toBeUndefined()
})

it('shows where a conversation began anew, and whether there is anything to forget', () => {
  const at = (chat: Chat, id: string, when: string) =>
    applyAgentEvent(chat, {
      ...event('user', 'prompt', { text: 'Fix it' }),
      requestId: id,
      at: when,
    })
  const cleared = (chat: Chat, id: string, when: string, from: string | null) =>
    applyAgentEvent(chat, {
      ...event('user', 'clear', { name: 'Ana', from }),
      requestId: id,
      at: when,
    })
  let chat = at(NONE, 'a', '2026-01-01T00:00:01Z')
  expect(remembers(chat, 's')).toBe(true)
  chat = cleared(chat, 'b', '2026-01-01T00:00:02Z', null)
  expect(chat.starts).toEqual([
    { id: 'b', sessionId: 's', at: '2026-01-01T00:00:02Z', name: 'Ana', from: null },
  ])
  expect(chat.runs).toHaveLength(1)
  expect(remembers(chat, 's')).toBe(false)
  expect(remembers(cleared(chat, 'c', '2026-01-01T00:00:03Z', 'a'), 's')).toBe(true)
  expect(remembers(at(chat, 'd', '2026-01-01T00:00:04Z'), 's')).toBe(true)
})
