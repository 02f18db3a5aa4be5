// What every browser story needs: a server that can be killed, browsers, and a way to look inside
// the editor.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'

const need = (name) => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; tests/browser.rs runs these stories`)
  return value
}
const require = createRequire(join(need('COPYDESK_WEB_MODULES'), 'package.json'))
const { chromium, firefox } = require('playwright-core')
const shots = need('COPYDESK_SHOTS')
mkdirSync(shots, { recursive: true })

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
export const TOKEN = 'an-owner-for-the-browser-stories'
const READY_MS = 60_000
/** The longest wait for what is to be seen: on a busy machine a page takes long to load. */
const PATIENCE_MS = 60_000

/** A port that is free now; the same one is used again after a restart, as people's tabs expect. */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** Servers that were started. One that outlives its story holds the output that the test reads. */
const servers = new Set()
process.on('exit', () => servers.forEach((server) => server.kill('SIGKILL')))

export class Server {
  constructor(data, model, port, more) {
    this.more = more
    this.data = data
    this.model = model
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** `more`: flags of its own. */
  static async start(data, model, more = []) {
    const server = new Server(data, model, await freePort(), more)
    await server.start()
    return server
  }

  async start() {
    const options = [
      '--listen',
      `127.0.0.1:${this.port}`,
      '--data',
      this.data,
      '--model',
      this.model,
      '--token',
      TOKEN,
      ...this.more,
    ]
    this.process = spawn(need('COPYDESK_BIN'), options, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, RUST_LOG: 'warn' },
    })
    servers.add(this.process)
    const lines = createInterface({ input: this.process.stdout })
    const ready = new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        if (!line.startsWith('open ')) return
        this.link = line.slice('open '.length)
        resolve()
      })
      this.process.once('exit', (code) =>
        reject(new Error(`the server ended with ${code} before it was ready`)),
      )
      setTimeout(() => reject(new Error('the server did not get ready')), READY_MS).unref()
    })
    await ready
  }

  /** As a power cut would: no clean-up, no last words. */
  async kill() {
    this.process.kill('SIGKILL')
    await once(this.process, 'exit')
  }

  async stop() {
    this.process.kill('SIGTERM')
    await once(this.process, 'exit')
  }
}

/** A server, a browser, and its owner at the list of documents: what most stories begin with. */
export async function begin(keep, options = { colorScheme: 'light' }) {
  const { COPYDESK_DATA: data, COPYDESK_MODEL: model } = process.env
  const server = keep(await Server.start(data, model))
  const browser = keep(await startBrowser())
  return { server, browser, ana: await Writer.arrive(browser, server, 'Ana', options) }
}

/**
 * A scripted model that answers what it is asked, by a regular expression each; its name for the
 * server.
 */
export function scripted(answers) {
  const tool = (new_content) => ({
    type: 'tool_use',
    name: 'update_full_document',
    input: { new_content, explanation: 'As you asked.' },
  })
  const turns = answers.map(({ user, text, ...more }) => ({
    when: { user },
    content: [tool(text)],
    repeat: true,
    ...more,
  }))
  turns.push({ content: [{ type: 'text', text: 'As you like.' }], repeat: true })
  const file = join(mkdtempSync(join(tmpdir(), 'copydesk-script-')), 'script.json')
  writeFileSync(file, JSON.stringify({ name: 'a story', turns }))
  return `script:${file}`
}

const MISSPELT = { the: 'teh', received: 'recieved', separate: 'seperate' }
const NOUNS = ['keeper', 'lamp', 'ledger', 'harbour', 'fog', 'boat', 'stair', 'bell']

/** A text of so many paragraphs, right, and with one small word of each misspelt. */
export function misspelt(count) {
  const words = Object.entries(MISSPELT)
  const line = (at, wrong) =>
    `In part ${at + 1} of this account ${words[at % words.length][wrong ? 1 : 0]} ${NOUNS[at % NOUNS.length]} waited for a while, and nothing else happened on that day.`
  const text = (wrong) => Array.from({ length: count }, (_, at) => line(at, wrong)).join('\n\n')
  return { right: text(false), wrong: text(true), line }
}

/** A token of their own for somebody. */
export function tokenFor(server, name, role) {
  const wanted = ['token', '--role', role, '--name', name, '--url', server.url, '--token', TOKEN]
  const { stdout, stderr, status } = spawnSync(need('COPYDESK_BIN'), wanted, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`no token for ${name}: ${stderr}`)
  return stdout.trim()
}

/** Keeps what the page says to screen readers, from now on: `said` of the page holds it. */
export async function listen(writer) {
  await writer.page.evaluate(() => {
    globalThis.said = []
    const heard = (records) =>
      records
        .flatMap(({ addedNodes }) => [...addedNodes])
        .filter((node) => node.nodeName === 'DIV')
        .forEach((node) => globalThis.said.push(node.textContent))
    new MutationObserver(heard).observe(document.querySelector('.cm-announced'), {
      childList: true,
    })
  })
}

/** All that was said since {@link listen}. */
export const saidTo = (writer) => writer.page.evaluate(() => globalThis.said)

/** The last of it. */
export const announced = async (writer) => (await saidTo(writer)).at(-1) ?? ''

/** A new document of the owner, with a text. */
export async function written(writer, text, title) {
  const { page } = writer
  await page.getByRole('button', { name: 'New document' }).click()
  await page.locator('.cm-content').click()
  await page.keyboard.insertText(text)
  await page.getByLabel('Title', { exact: true }).fill(title)
  await page.getByLabel('Title', { exact: true }).press('Enter')
  await saved(writer, `${title} is saved`)
}

/** Waits until the server has all that was typed. */
export const saved = (writer, what = 'saved') =>
  eventually(
    what,
    () => writer.page.locator('.saved').textContent(),
    (words) => words === 'Saved',
  )

/** Puts back the first words that are offered, which asks the server where they belong. */
export async function putsBack(writer, press = {}) {
  const offers = writer.page.locator('.recovered-offer')
  const before = await offers.count()
  await offers.getByRole('button', { name: 'Put back where I was' }).first().click(press)
  await eventually(
    'the words are put back',
    () => offers.count(),
    (now) => now < before,
  )
  await saved(writer)
}

/** Waits until these words, which could not be sent, are kept on this device. */
export const kept = (writer, words) =>
  eventually(
    `“${words}” is kept`,
    () => writer.page.evaluate(keptHere),
    (all) => all.includes(words),
  )

/** In the page: all that is kept, as JSON. */
async function keptHere() {
  const databases = await indexedDB.databases()
  if (!databases.some(({ name }) => name === 'copydesk')) return ''
  const answered = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const database = await answered(indexedDB.open('copydesk'))
  const all = await answered(database.transaction('unsent').objectStore('unsent').getAll())
  database.close()
  return JSON.stringify(all)
}

/** Puts a text in the place of the one that stands, as if it had been typed. */
export const put = (writer, text) =>
  writer.editor.evaluate(({ cmTile: { view } }, insert) => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } })
  }, text)

/** Selects words of the text, once they are there. */
export const selects = (writer, words) => goesTo(writer, words, { from: 0, to: words.length })

/** Puts the caret behind some words, once they are there. */
export const caretAfter = (writer, words) =>
  goesTo(writer, words, { from: words.length, to: words.length })

/** Puts the caret in front of some words, once they are there. */
export const caretBefore = (writer, words) => goesTo(writer, words, { from: 0, to: 0 })

/** Places are found and taken in one step: others may be typing now. */
const goesTo = (writer, words, part) =>
  eventually(
    `“${words}” is in the text`,
    () =>
      writer.editor.evaluate(
        ({ cmTile: { view } }, [sought, { from, to }]) => {
          const text = view.state.doc.toString()
          const at = text.indexOf(sought)
          view.focus()
          if (at < 0) return text
          view.dispatch({ selection: { anchor: at + from, head: at + to } })
          return true
        },
        [words, part],
      ),
    (isThere) => isThere === true,
  )

/** Types at the end of some words, also if others are typing now. */
export async function typesAfter(writer, words, more) {
  await caretAfter(writer, words)
  await writer.page.keyboard.type(more)
}

export const press = (writer, key) => writer.page.keyboard.press(key)

/** Gives the keyboard to the text, which stays where it is scrolled to. */
export const inText = (writer) => writer.editor.evaluate(({ cmTile }) => cmTile.view.focus())

/** Waits until somebody's text is this. */
export const reads = (writer, what, text) => becomes(what, () => writer.text(), text)

/** Waits until these words are in somebody's text. */
export const has = (writer, what, words) =>
  eventually(
    what,
    () => writer.text(),
    (text) => text.includes(words),
  )

/** The active change, whether it is where it can be read, and which changes wait. */
export const looks = (writer) =>
  writer.page.locator('.page-scroll').evaluate((scrolled) => {
    const at = document.querySelector('.cm-gone.is-active')?.getBoundingClientRect()
    const page = scrolled.getBoundingClientRect()
    const bar = document.querySelector('[data-review-bar]')?.getBoundingClientRect()
    const end = Math.min(page.bottom, bar?.top ?? page.bottom)
    return {
      id: document.querySelector('.hunk-row.is-active')?.dataset.row ?? null,
      seen: !!at && at.top >= page.top && at.bottom <= end,
      waiting: [...document.querySelectorAll('.hunk-row')].map((row) => row.dataset.row),
    }
  })

/** Waits until so many changes wait. */
export const waits = (writer, what, count) =>
  eventually(
    what,
    () => writer.changes(),
    (changes) => changes.length === count,
  )

/** Waits until no change is still being written. */
export const isWritten = (writer) =>
  writer.page.locator('.hunk-row .badge', { hasText: 'Writing' }).waitFor({ state: 'detached' })

export const toasts = (writer) => writer.page.locator('.toast span').allTextContents()

/** Waits until a toast says it. */
export const toldBy = (writer, words) =>
  eventually(
    `the words “${words}”`,
    () => toasts(writer),
    (said) => said.includes(words),
  )

/** True if the story runs in the distribution's Firefox, over WebDriver BiDi. */
export const IN_FIREFOX = process.env.COPYDESK_BROWSER === 'firefox'

export function startBrowser() {
  if (IN_FIREFOX) return new Firefoxes()
  return chromium.launch({
    executablePath: need('COPYDESK_CHROMIUM'),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** A Firefox for each context: only one window of a Firefox has the keyboard. */
class Firefoxes {
  home = mkdtempSync(join(tmpdir(), 'copydesk-firefox-'))
  started = []

  async newContext({ colorScheme, ...options }) {
    const one = await firefox.launch({
      channel: 'moz-firefox',
      executablePath: need('COPYDESK_FIREFOX'),
      env: { ...process.env, HOME: this.home },
      firefoxUserPrefs: {
        'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
      },
    })
    this.started.push(one)
    const within = one._connection.toImpl
    // Playwright sends a command for the colours to each context. Firefox does not know it.
    const { _browserSession: session } = within(one)
    const { send } = session
    session.send = (method, params) =>
      method === 'emulation.setMediaFeaturesOverride' ? {} : send.call(session, method, params)
    const context = await one.newContext(options)
    // It would scroll all that is clicked to the same place: two clicks would be a double click.
    context.on('page', (page) => {
      within(page).delegate.scrollRectIntoViewIfNeeded = scrollNearest
    })
    return context
  }

  async close() {
    await Promise.all(this.started.map((one) => one.close()))
    rmSync(this.home, { recursive: true, force: true })
  }
}

/** Scrolls no further than is needed to see an element, as Chromium does. */
async function scrollNearest(element) {
  const scroll = ([, node]) => node.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  await element.evaluateInUtility(scroll, null)
  return 'done'
}

/** Errors of Firefox for a server that is away, and for a page that is left as it loads. */
const CUT_OFF =
  /^(The connection to ws:|Firefox can’t establish a connection|TypeError: error loading dynamic)/

/** All who came, in their order. */
const writers = []

/** Somebody with a browser of their own. */
export class Writer {
  /** The field of the text, once it is there. */
  get editor() {
    return this.page.locator('.cm-content')
  }

  /** Links of the list of documents. */
  get documents() {
    return this.page.locator('a[href*="/d/"]')
  }

  /** In the document whose title matches. */
  static async open(browser, server, name, title, options = {}) {
    const writer = await Writer.arrive(browser, server, name, options)
    await writer.documents.filter({ hasText: title }).first().click()
    await writer.editor.waitFor()
    return writer
  }

  /** At the list of documents, by the link that the server prints. */
  static async arrive(browser, server, name, options = {}) {
    const writer = await Writer.follow(browser, `${server.link}&name=${name}`, name, options)
    await writer.documents.first().waitFor()
    return writer
  }

  /** Somebody else than the owner, in a document by its address; with a link of their own. */
  static async invited(browser, server, name, role, address, options = {}) {
    const token = tokenFor(server, name, role)
    const link = `${server.url}${new URL(address, server.url).pathname}#token=${token}`
    const writer = await Writer.follow(browser, link, name, options)
    await writer.editor.waitFor()
    return writer
  }

  /** At an address. */
  static async follow(browser, link, name, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const writer = new Writer(await context.newPage(), name)
    writer.hear(writer.page)
    await writer.page.goto(link)
    return writer
  }

  constructor(page, name) {
    this.page = page
    this.name = name
    this.errors = []
    writers.push(this)
  }

  /** Notes the errors of a page. */
  hear(page) {
    page.on('pageerror', ({ stack }) => {
      if (!(IN_FIREFOX && CUT_OFF.test(stack))) this.errors.push(stack)
    })
  }

  /** The text as the editor holds it, not only what is scrolled into view. */
  text() {
    return this.editor.evaluate(({ cmTile }) => cmTile.view.state.doc.toString())
  }

  /** The pending changes, as the panel words them. */
  changes() {
    return this.page.locator('.hunk-row .hunk-open .words').allTextContents()
  }

  /** How many changes have lost their words. */
  conflicts() {
    return this.page.evaluate(
      () =>
        new Set(
          [...document.querySelectorAll('.cm-gone.is-conflict')].map((mark) => mark.dataset.hunk),
        ).size,
    )
  }

  /** Puts the caret at a position of the text. */
  async caret(at) {
    await this.editor.evaluate(({ cmTile: { view } }, anchor) => {
      view.focus()
      view.dispatch({ selection: { anchor } })
    }, at)
  }

  async ask(prompt) {
    await this.page.locator('#composer').fill(prompt)
    await this.page.keyboard.press('Enter')
  }

  /** Chooses an action of the menu at the top. */
  async menu(action) {
    await this.page.getByRole('button', { name: 'Menu' }).click()
    await this.page.locator('[role^=menuitem]', { hasText: action }).click()
  }

  /** Makes the change with this number the active one. */
  async choose(number) {
    await this.page
      .locator('.hunk-row')
      .nth(number - 1)
      .locator('.hunk-open')
      .click()
  }

  /**
   * Presses a button of the review bar: `Accept`, `Edit` or `Reject`, as somebody who has noticed
   * the change: a press right after it became the active one only shows it.
   */
  async bar(button) {
    await noticed(this)
    await this.page
      .locator('.review-bar')
      .getByRole('button', { name: new RegExp(`^${button} change`) })
      .click()
  }

  /** Accepts all changes of the only suggestion: of several, they are listed first. */
  async acceptAll() {
    const all = this.page.getByRole('button', { name: /^Accept (all \d+…|1 change)$/ })
    const several = (await all.textContent()).includes('all')
    await all.click()
    if (!several) return
    const list = this.page.locator('dialog.together')
    await list.getByRole('button', { name: /^Accept \d+ changes?$/ }).click()
    await list.waitFor({ state: 'detached' })
  }

  /** The conversation, without times and counters. */
  async transcript() {
    const cards = await this.page.locator('article.card').all()
    return Promise.all(
      cards.map(async (card) => ({
        who: await card.locator('h3').first().textContent(),
        prompt: await card.locator('.prompt').allTextContents(),
        answer: await card.locator('.answer').allTextContents(),
        decided: await card.locator('.tool-line').allTextContents(),
      })),
    )
  }

  async screenshot(name) {
    const file = `${IN_FIREFOX ? 'firefox-' : ''}${name}.png`
    await this.page.screenshot({ path: join(shots, file) })
  }
}

/** Longer than `NOTICE_MS` of `web/src/review/state/attention.ts`. */
const NOTICE_MS = 500

/**
 * Waits until somebody has noticed the active change: until it is the same one, at the same place,
 * for a moment.
 */
export async function noticed(writer) {
  const look = () =>
    writer.page.evaluate(() => {
      const rows = [...document.querySelectorAll('.hunk-row')]
      const { top } = document.querySelector('.cm-content').getBoundingClientRect()
      return JSON.stringify([
        top,
        ...rows.map(({ dataset, className }) => [dataset.row, className]),
      ])
    })
  let [before, since] = [await look(), Date.now()]
  await eventually('the active change stays', look, (now) => {
    if (now !== before) [before, since] = [now, Date.now()]
    return Date.now() - since >= NOTICE_MS
  })
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** No known barrier in what is on the screen now, and nothing to press beside it. */
export async function accessible(writer, what) {
  await writer.page.waitForTimeout(300)
  const beside = await writer.page.evaluate(outOfReach)
  if (beside.length > 0) throw new Error(`out of reach in ${what}:\n  ${beside.join('\n  ')}`)
  await writer.page.evaluate(require('axe-core').source)
  const barriers = async () => {
    const { violations } = await writer.page.evaluate(
      (runOnly) => globalThis.axe.run(document, { runOnly }),
      RULES,
    )
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`,
    )
  }
  let found = await barriers()
  if (found.length > 0) {
    // The foot of a card may lie over half of a button, which a person scrolls to.
    for (const target of found.flatMap((one) => /^target-size: (.*)/.exec(one)?.slice(1) ?? []))
      await writer.page.evaluate(scrollTo, target)
    // On a busy machine something may still have been moving into its place.
    await writer.page.waitForTimeout(1_500)
    found = await barriers()
  }
  if (found.length > 0) throw new Error(`barriers in ${what}:\n  ${found.join('\n  ')}`)
}

/** In the page: brings an element to the middle of what it scrolls in. */
function scrollTo(target) {
  document.querySelector(target)?.scrollIntoView({ block: 'center' })
}

/** In the page: what can be pressed and stands beside the screen, where nothing scrolls to it. */
function outOfReach() {
  const scrolls = (element) =>
    element !== null &&
    ((['auto', 'scroll'].includes(getComputedStyle(element).overflowX) &&
      element.scrollWidth > element.clientWidth &&
      !element.matches('.library')) ||
      scrolls(element.parentElement))
  const beside = (element) => {
    const { left, right, width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && (left < -1 || right > innerWidth + 1)
  }
  const pressed = [...document.querySelectorAll('button, a[href], input, select, textarea')]
  return pressed
    .filter(
      (element) =>
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
        beside(element) &&
        !scrolls(element),
    )
    .map((element) => element.outerHTML.slice(0, 120))
}

/** Waits until `probe` gives what `check` accepts; says what it last gave if it never does. */
export async function eventually(what, probe, check, patience_ms = PATIENCE_MS) {
  const until = Date.now() + patience_ms
  let last
  do {
    last = await probe()
    if (check(last)) return last
    await new Promise((resume) => setTimeout(resume, 50))
  } while (Date.now() < until)
  throw new Error(`${what}: last seen ${JSON.stringify(last)}`)
}

/** Waits until `probe` gives exactly this: what a press does may be seen a moment later. */
export function becomes(what, probe, wanted, patience_ms) {
  const goal = JSON.stringify(wanted)
  const isIt = (now) => JSON.stringify(now) === goal
  return eventually(`${what}, wanted ${goal}`, probe, isIt, patience_ms)
}

export function same(what, left, right) {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)]
  if (a !== b) throw new Error(`${what} differ:\n  ${a}\n  ${b}`)
}

export function holds(what, truth) {
  if (!truth) throw new Error(what)
}

/** Runs a story and ends the process with what came of it; shows what everybody saw if it fails. */
export async function story(tell) {
  const open = []
  try {
    await tell((closing) => (open.push(closing), closing))
    console.log('story told')
  } catch (error) {
    console.error(error)
    process.exitCode = 1
    const name = basename(process.argv[1], '.mjs')
    for (const writer of writers)
      await writer.screenshot(`${name}-failed-${writer.name}`).catch(() => undefined)
  } finally {
    for (const closing of open.reverse())
      await (closing.stop ?? closing.close).call(closing).catch(() => undefined)
  }
}
