// A stand-in for the Claude CLI: it takes the same command line, speaks the same lines, keeps
// conversations, and calls the tools it was given over MCP. What it says is in `play.json` of its
// configuration folder: {loggedIn, native: [tool…], child: true, plays: [{when: regex, turns:
// [{content, stop?, hang?, die?}…]}…]} Its whole input goes to `input.jsonl` there.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const args = process.argv.slice(2)
const value = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined)
const home = process.env.CLAUDE_CONFIG_DIR
const play = JSON.parse(readFileSync(join(home, 'play.json'), 'utf8'))
const note = (what) => appendFileSync(join(home, 'input.jsonl'), JSON.stringify(what) + '\n')
const say = (line) => process.stdout.write(JSON.stringify({ ...line, session_id: session }) + '\n')
const event = (event) => say({ type: 'stream_event', event, parent_tool_use_id: null })
const prompt = readFileSync(0, 'utf8')
note({ args, prompt, cwd: process.cwd(), env: Object.keys(process.env), pid: process.pid })

const resumed = value('--resume')
const session = value('--session-id') ?? resumed ?? randomUUID()
const kept = (name) => join(home, 'conversations', `${name}.json`)
const file = kept(session)
mkdirSync(join(home, 'conversations'), { recursive: true })
if (value('--session-id') !== undefined && existsSync(file)) {
  console.error(`Error: Session ID ${session} is already in use.`)
  process.exit(1)
}
// A power cut may have left the name of a conversation, and nothing of it.
const isLost = (name) => !existsSync(kept(name)) || readFileSync(kept(name), 'utf8') === ''
if (resumed !== undefined && isLost(resumed)) {
  const errors = [`No conversation found with session ID: ${resumed}`]
  say({ type: 'result', subtype: 'error_during_execution', is_error: true, errors })
  process.exit(1)
}
const conversation = resumed === undefined ? { prompts: [], used: 0 } : JSON.parse(readFileSync(kept(resumed), 'utf8'))
const interrupted = prompt.startsWith('You were interrupted')
if (!interrupted) {
  conversation.play = play.plays.findIndex(({ when }) => new RegExp(when).test(prompt.split('User Request:').at(-1).split('Available Tools:')[0]))
  conversation.used = prompt.includes('You were interrupted') ? 1 : 0
}
conversation.prompts.push(prompt)
note({ conversation: session, prompts: conversation.prompts.length })
const keep = () => writeFileSync(file, JSON.stringify(conversation))
keep()

if (play.child === true) {
  // A process that has left the group.
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  note({ child: child.pid })
}

// The tools.
const config = JSON.parse(readFileSync(value('--mcp-config'), 'utf8')).mcpServers['atlas-tools']
const tools = spawn(config.command, config.args, { env: { ...process.env, ...config.env }, stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let rest = ''
tools.stdout.on('data', (piece) => {
  rest += piece
  const lines = rest.split('\n')
  rest = lines.pop()
  for (const line of lines.filter((it) => it.trim() !== '')) {
    const message = JSON.parse(line)
    waiting.get(message.id)?.(message)
  }
})
let ids = 0
const request = (method, params) =>
  new Promise((resolve) => {
    const id = ++ids
    waiting.set(id, resolve)
    tools.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
  })
await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'claude-code', version: '2.1.327' } })
tools.stdin.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) + '\n')
const listed = (await request('tools/list', {})).result.tools.map(({ name }) => name)

say({
  type: 'system',
  subtype: 'init',
  tools: [...(play.native ?? []), ...listed.map((name) => `mcp__atlas-tools__${name}`)],
  mcp_servers: [{ name: 'atlas-tools', status: 'connected' }],
  permissionMode: value('--permission-mode'),
})
const leave = (line) => {
  say({ type: 'result', subtype: 'success', is_error: false, ...line })
  tools.stdin.end()
}

const turns = play.plays[conversation.play]?.turns ?? [{ content: [{ type: 'text', text: 'I see.' }] }]
if (play.loggedIn === false) {
  leave({ is_error: true, result: 'Not logged in · Please run /login' })
} else {
  for (;;) {
    const turn = turns[conversation.used] ?? { content: [{ type: 'text', text: 'Done.' }] }
    conversation.used += 1
    keep()
    if (turn.die === true) {
      console.error('the stand-in was asked to die')
      process.exit(3)
    }
    const usage = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
    event({ type: 'message_start', message: { id: 'msg', type: 'message', role: 'assistant', model: 'claude-story', content: [], stop_reason: null, stop_sequence: null, usage } })
    const calls = []
    turn.content.forEach((block, index) => {
      if (block.type === 'text') {
        event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
        event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: block.text } })
      } else {
        const call = { id: `toolu_${process.pid}_${conversation.used}_${index}`, name: `mcp__atlas-tools__${block.name}`, input: block.input }
        calls.push({ ...call, short: block.name })
        event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} } })
        event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } })
      }
      event({ type: 'content_block_stop', index })
    })
    if (turn.hang === true) await new Promise((resolve) => setTimeout(resolve, 1_000_000))
    event({ type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } })
    event({ type: 'message_stop' })
    if (calls.length === 0) break
    for (const { id, short, input } of calls) {
      const { result, error } = await request('tools/call', { name: short, arguments: input, _meta: { 'claudecode/toolUseId': id, progressToken: ids } })
      const content = (result?.content ?? [{ text: error.message }]).map(({ text }) => text).join('\n')
      note({ call: id, result: content, isError: result?.isError ?? true })
      say({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] } })
    }
  }
  leave({ result: 'Done.', stop_reason: 'end_turn' })
}
