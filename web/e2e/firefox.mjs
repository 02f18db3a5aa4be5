// The distribution's Firefox, driven over WebDriver BiDi, which playwright does not speak to it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { accessible, eventually } from './support.mjs'

// The connection of socket.io's client; Node has none of its own before version 22.
const modules = createRequire(join(process.env.COPYDESK_WEB_MODULES, 'package.json'))
const WebSocket = modules('ws')

const LISTENS = 'WebDriver BiDi listening on '
const START_MS = 60_000
/** Keys by their names, as WebDriver numbers them. */
const KEYS = { Alt: '\uE00A', Control: '\uE009', Enter: '\uE007', Escape: '\uE00C', F8: '\uE038' }

/** Firefox with a profile of its own. */
export class Firefox {
  static async start() {
    const profile = mkdtempSync(join(tmpdir(), 'copydesk-firefox-'))
    const options = ['--headless', '--no-remote', '--remote-debugging-port', '0']
    const firefox = new Firefox(
      profile,
      spawn(process.env.COPYDESK_FIREFOX, [...options, '--profile', profile], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          ...process.env,
          HOME: profile,
          MOZ_HEADLESS_WIDTH: '1440',
          MOZ_HEADLESS_HEIGHT: '900',
        },
      }),
    )
    const address = await firefox.address()
    firefox.socket = new WebSocket(`${address}/session`)
    await once(firefox.socket, 'open')
    firefox.socket.on('message', (message) => firefox.hear(JSON.parse(message)))
    await firefox.send('session.new', { capabilities: {} })
    await firefox.send('session.subscribe', { events: ['log.entryAdded'] })
    return firefox
  }

  constructor(profile, process) {
    this.profile = profile
    this.process = process
    this.waiting = new Map()
    this.errors = []
    this.last = 0
  }

  /** The address that it prints. */
  address() {
    return new Promise((resolve, reject) => {
      createInterface({ input: this.process.stderr }).on('line', (line) => {
        if (line.startsWith(LISTENS)) resolve(line.slice(LISTENS.length))
      })
      this.process.once('error', reject)
      this.process.once('exit', (code) => reject(new Error(`Firefox ended with ${code}`)))
      setTimeout(() => reject(new Error('Firefox did not get ready')), START_MS).unref()
    })
  }

  send(method, params) {
    const id = ++this.last
    this.socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }))
  }

  hear({ id, type, result, message, method, params }) {
    if (method === 'log.entryAdded' && params.level === 'error' && params.type === 'javascript')
      this.errors.push(params.text)
    const asked = this.waiting.get(id)
    this.waiting.delete(id)
    if (type === 'error') asked?.reject(new Error(`${asked.method}: ${message}`))
    else asked?.resolve(result)
  }

  /** A page at this address. */
  async open(url) {
    const { contexts } = await this.send('browsingContext.getTree', {})
    const page = new FirefoxPage(this, contexts[0].context)
    await this.send('browsingContext.setViewport', {
      context: page.context,
      viewport: { width: 1440, height: 900 },
    })
    await this.send('browsingContext.navigate', { context: page.context, url, wait: 'complete' })
    return page
  }

  async close() {
    this.socket?.close()
    const ended = this.process.exitCode === null && once(this.process, 'exit')
    this.process.kill('SIGTERM')
    await ended
    rmSync(this.profile, { recursive: true, force: true })
  }
}

/** One page, with what a person does there. Its `evaluate` is that of playwright. */
export class FirefoxPage {
  constructor(firefox, context) {
    this.firefox = firefox
    this.context = context
  }

  /** Calls a function in the page, or runs a script there. */
  async evaluate(act, value) {
    const target = { context: this.context }
    const isScript = typeof act === 'string'
    // A script that only defines something returns nothing that can be sent.
    const declared = isScript
      ? '(script) => void (0, eval)(script)'
      : `async (value) => JSON.stringify(await (${act})(...JSON.parse(value)))`
    const sent = isScript ? act : JSON.stringify(value === undefined ? [] : [value])
    const answer = await this.firefox.send('script.callFunction', {
      functionDeclaration: declared,
      arguments: [{ type: 'string', value: sent }],
      awaitPromise: true,
      target,
    })
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text)
    return isScript || answer.result.value === undefined
      ? undefined
      : JSON.parse(answer.result.value)
  }

  waitForTimeout(time_ms) {
    return new Promise((resolve) => setTimeout(resolve, time_ms))
  }

  /** The text of what a selector finds. */
  texts(selector) {
    return this.evaluate(
      (sought) => [...document.querySelectorAll(sought)].map((it) => it.textContent),
      selector,
    )
  }

  /** Clicks with the mouse on the first element that has these words, once it is there. */
  async click(selector, words = '') {
    const { x, y } = await eventually(
      `${selector} ${words}`,
      () =>
        this.evaluate(
          ([sought, said]) => {
            const all = [...document.querySelectorAll(sought)]
            const found = all.find((it) => it.textContent.includes(said))
            found?.scrollIntoView({ block: 'center' })
            const at = found?.getBoundingClientRect()
            return at && { x: at.x + at.width / 2, y: at.y + at.height / 2 }
          },
          [selector, words],
        ),
      (at) => Boolean(at),
    )
    const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y) }
    await this.perform('pointer', [
      move,
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ])
  }

  /** Types words into what has the keyboard. */
  type(words) {
    return this.perform(
      'key',
      [...words].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]),
    )
  }

  /** "Control+Enter" */
  press(chord) {
    const keys = chord.split('+').map((name) => KEYS[name] ?? name)
    return this.perform('key', [
      ...keys.map((value) => ({ type: 'keyDown', value })),
      ...keys.toReversed().map((value) => ({ type: 'keyUp', value })),
    ])
  }

  perform(type, actions) {
    const source = { type, id: `the ${type}`, actions }
    return this.firefox.send('input.performActions', { context: this.context, actions: [source] })
  }

  async screenshot(name) {
    const { data } = await this.firefox.send('browsingContext.captureScreenshot', {
      context: this.context,
    })
    writeFileSync(join(process.env.COPYDESK_SHOTS, `${name}.png`), Buffer.from(data, 'base64'))
  }

  /** No known barrier in what is on the screen now. */
  accessible(what) {
    return accessible({ page: this }, what)
  }
}
