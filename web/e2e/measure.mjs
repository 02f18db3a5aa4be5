// How long keys and accepts take with 300 changes waiting in 300 KB of text. Not a story: run it by
// hand, on a quiet machine, with the variables of `tests/browser.rs` set except COPYDESK_MODEL:
// node web/e2e/measure.mjs
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Server, Writer, eventually, startBrowser, story } from './support.mjs'

const CHANGES = 300
const KEYS = 120
const ACCEPTS = 20
const UNCHANGED =
  'Nothing else happened on that day, and the evening came as quietly as the ones before it. '.repeat(
    2,
  )
const paragraph = (number, word) =>
  `In part ${number} of this account ${word} lamp burned all night. ${UNCHANGED}`
// One proposal is at most 100,000 characters: the rest of the text comes after it.
const REST = `\n\n${UNCHANGED}`.repeat(1_150)
const text = (word) =>
  Array.from({ length: CHANGES }, (_, index) => paragraph(index + 1, word)).join('\n\n')

const part = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)]
const said = (what, times) =>
  console.log(
    `${what}: p50 ${part(times, 0.5).toFixed(1)} ms, p95 ${part(times, 0.95).toFixed(1)} ms, longest ${part(times, 1).toFixed(1)} ms (${times.length})`,
  )

/**
 * In the page: presses keys one after the other, and times the work of each and when it is painted.
 */
async function keys(count) {
  const { view } = document.querySelector('.cm-content').cmTile
  const [work, painted] = [[], []]
  for (let key = 0; key < count; key++) {
    const at = view.state.selection.main.head
    const start = performance.now()
    view.dispatch({
      changes: { from: at, insert: 'x' },
      selection: { anchor: at + 1 },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    document.body.getBoundingClientRect()
    work.push(performance.now() - start)
    await new Promise((resume) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = resume
        port2.postMessage(null)
      }),
    )
    painted.push(performance.now() - start)
    await new Promise((resume) => setTimeout(resume, 60))
  }
  return { work, painted }
}

/** In the page, before its scripts: notes when an update of the text arrives. */
function noteArrivals() {
  const Plain = globalThis.WebSocket
  globalThis.WebSocket = class extends Plain {
    constructor(...options) {
      super(...options)
      this.addEventListener('message', ({ data }) => {
        if (String(data).includes('"document:updates"')) globalThis.arrived = performance.now()
      })
    }
  }
}

/**
 * In the page: from the press on Accept until the server's update is there, and until the change is
 * off the text.
 */
async function accept() {
  const { view } = document.querySelector('.cm-content').cmTile
  const id = document.querySelector('.hunk-row.is-active').dataset.row
  const button = document.querySelector('.review-bar .is-primary')
  const start = performance.now()
  button.click()
  while (view.contentDOM.querySelector(`[data-hunk="${CSS.escape(id)}"]`)) {
    if (performance.now() - start > 5_000) throw new Error('the change stays')
    await new Promise((resume) => setTimeout(resume))
  }
  document.body.getBoundingClientRect()
  return { server: globalThis.arrived - start, whole: performance.now() - start }
}

await story(async (keep) => {
  const script = join(process.env.COPYDESK_DATA, 'measure.json')
  const content = [
    { type: 'tool_use', name: 'update_full_document', input: { new_content: text('the') } },
  ]
  writeFileSync(script, JSON.stringify({ name: 'measure', turns: [{ content }] }))
  const data = join(process.env.COPYDESK_DATA, 'data')
  const server = keep(await Server.start(data, `script:${script}`))
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana')
  const { page } = ana
  await page.addInitScript(noteArrivals)
  await page.reload()
  await page.getByRole('button', { name: 'New document' }).click()
  await page.locator('.cm-content').click()
  await page.keyboard.insertText(text('teh'))
  await page.waitForTimeout(2_000)
  await ana.ask('Correct it')
  await eventually(
    'the changes',
    () => page.locator('.hunk-row').count(),
    (count) => count === CHANGES,
    60_000,
  )
  await ana.caret(text('teh').length)
  await page.keyboard.insertText(REST)
  console.log(`${((await ana.text()).length / 1_000).toFixed(0)} KB`)
  await page.waitForTimeout(2_000)
  await ana.caret(Math.round(text('teh').length / 2))
  await page.evaluate(keys, 20)
  const during = await page.evaluate(keys, KEYS)
  said(`work of a key, ${CHANGES} changes wait`, during.work)
  said(`key to paint, ${CHANGES} changes wait`, during.painted)
  await ana.choose(1)
  const accepts = []
  for (let turn = 0; turn < ACCEPTS; turn++) {
    await page.waitForTimeout(700)
    accepts.push(await page.evaluate(accept))
  }
  const [away, whole] = ['server', 'whole'].map((part) => accepts.map((one) => one[part]))
  said('accept, until the change is off the text', whole)
  said('  of it until the server’s update is there', away)
  said(
    '  of it in the browser',
    whole.map((time, at) => time - away[at]),
  )
})
