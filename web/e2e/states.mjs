// States that a review comes into now and then: each can be reached, says what it should, and has
// no barrier.
import {
  Server,
  Writer,
  accessible,
  becomes,
  eventually,
  has,
  holds,
  put,
  same,
  scripted,
  selects,
  startBrowser,
  story,
  waits,
  written,
} from './support.mjs'

const NOTE =
  'Teh lamp was burning all through the night, and nobody saw it or said that they did.\n\nHe recieved few visitors there, and they were seperate ones.\n\nThe boat came home in the morning with a cargo of salt and rope.\n\nNobody came by sea.'
const [LAMP, VISITORS, BOAT, SEA] = NOTE.split('\n\n')
const CORRECTED = [
  LAMP.replace('Teh', 'The'),
  VISITORS.replace('recieved', 'received').replace('seperate', 'separate'),
  BOAT,
  SEA,
].join('\n\n')
const MOVED = [BOAT, LAMP, VISITORS, SEA].join('\n\n')

const menuOf = (writer) => writer.page.getByRole('toolbar', { name: 'Selected words' })
const settings = async (writer) => {
  await writer.page.getByRole('button', { name: 'Review settings' }).click()
  return writer.page.getByRole('dialog', { name: 'Review settings' })
}
const closed = async (writer, dialog) => {
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
}

await story(async (keep) => {
  const model = scripted([
    { user: '(?i)slowly', text: CORRECTED, chunk_chars: 6, delay_ms: 200 },
    { user: '(?i)correct', text: CORRECTED },
    { user: '(?i)move', text: MOVED },
    { user: '(?i)grammar', text: CORRECTED, error: { status: 401, type: 'authentication_error' } },
  ])
  const server = keep(await Server.start(process.env.COPYDESK_DATA, model))
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  await written(ana, NOTE, 'A note')
  await selection(ana)
  await streaming(ana)
  await deciding(ana, server)
  await original(ana)
  await paragraph(ana)
  await moved(ana)
  await countdown(ana)
  await models(ana)
  await smaller(ana)
  await dialogs(ana)
  await offline(ana)
  await tooLarge(ana)
  await errorPages(ana, server)
  same('errors in the pages', ana.errors, [])
})

/**
 * Buttons at selected words; what failed is asked once more about the same words, also after a
 * reload.
 */
async function selection(ana) {
  const { page } = ana
  await selects(ana, 'recieved')
  await menuOf(ana).waitFor()
  await becomes('its buttons', () => menuOf(ana).getByRole('button').allTextContents(), [
    'Ask…',
    'Fix',
    'Shorten',
    'Rephrase',
    'Comment',
    'Freeze',
  ])
  await accessible(ana, 'the menu at a selection')
  await ana.screenshot('states-1-selection')
  await menuOf(ana).getByRole('button', { name: 'Ask…' }).click()
  await page.locator('#composer:focus').waitFor()
  await page.keyboard.press('Escape')
  for (const [button, prompt] of [
    ['Shorten', 'Shorten this passage and keep what it says'],
    ['Rephrase', 'Rephrase this passage and keep what it says'],
  ]) {
    await selects(ana, 'recieved')
    await menuOf(ana).getByRole('button', { name: button }).click()
    await page.locator('.prompt', { hasText: prompt }).waitFor()
  }
  await selects(ana, 'recieved')
  await menuOf(ana).getByRole('button', { name: 'Freeze', exact: true }).click()
  await page.locator('.toast', { hasText: 'Frozen. The AI can’t change these words.' }).waitFor()
  await selects(ana, 'recieved')
  await menuOf(ana).getByRole('button', { name: 'Unfreeze' }).click()
  await page.locator('.toast', { hasText: 'Unfrozen.' }).waitFor()

  await selects(ana, 'recieved')
  await menuOf(ana).getByRole('button', { name: 'Fix' }).click()
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  await page.reload()
  await again.waitFor()
  const sent = []
  await page.evaluate(() => {
    const send = WebSocket.prototype.send
    globalThis.sent = []
    WebSocket.prototype.send = function (data) {
      globalThis.sent.push(String(data))
      return send.call(this, data)
    }
  })
  await again.click()
  await eventually(
    'the question goes out once more',
    async () => sent.concat(await page.evaluate(() => globalThis.sent)),
    (all) =>
      all.some(
        (data) => data.includes('askClaudeCode') && data.includes('"selection":{"text":"recieved"'),
      ),
  )
}

async function streaming(ana) {
  const { page } = ana
  await ana.ask('Go on slowly')
  await page.locator('.review-bar', { hasText: 'Writing…' }).waitFor()
  await accessible(ana, 'the AI is writing')
  await ana.screenshot('states-2-streaming')
  await page.keyboard.press('F8')
  await page.locator('.toast', { hasText: 'The AI is still writing.' }).waitFor()
  await waits(ana, 'three corrections', 3)
}

/** A decision is shown at once as being on its way, and as made once the server says so. */
async function deciding(ana, server) {
  const { page } = ana
  await ana.choose(1)
  const text = await ana.text()
  server.process.kill('SIGSTOP')
  await ana.bar('Accept')
  await page.locator('.is-deciding .cm-gone.is-active').waitFor()
  same('the text before the server answers', await ana.text(), text)
  same('changes that wait', (await ana.changes()).length, 3)
  server.process.kill('SIGCONT')
  await waits(ana, 'it is decided', 2)
  await page.locator('.is-deciding').waitFor({ state: 'detached' })
  await eventually(
    'the word is right',
    () => ana.text(),
    (text) => text.startsWith('The lamp'),
  )
  await page.locator('.toast', { hasText: 'Accepted.' }).getByRole('button').click()
  await waits(ana, 'all corrections again', 3)
}

/** Read as it was, and all corrections at once. */
async function original(ana) {
  const { page } = ana
  const choice = page.locator('.review-bar').getByRole('combobox')
  await choice.selectOption({ label: 'Original' })
  await eventually(
    'no marks are in the text',
    () => page.locator('.cm-content :is(.cm-gone, .cm-new)').count(),
    (count) => count === 0,
  )
  await accessible(ana, 'the original')
  await ana.screenshot('states-3-original')
  await choice.selectOption({ label: 'Markup' })
  await page.getByRole('button', { name: 'Accept all 3…' }).click()
  await page.getByRole('dialog', { name: 'All changes: 3' }).waitFor()
  await accessible(ana, 'the list of corrections')
  await ana.screenshot('states-4-corrections')
  await page.keyboard.press('Escape')
}

/** The changes of one paragraph at once; the others stay. */
async function paragraph(ana) {
  const { page } = ana
  await ana.choose(2)
  await page.getByRole('button', { name: 'Decide this paragraph (2)…' }).click()
  const list = page.getByRole('dialog', { name: 'Changes of this paragraph' })
  await list.locator('li').nth(1).waitFor()
  await becomes('listed', () => list.locator('li').count(), 2)
  await list.getByRole('button', { name: 'Accept 2 changes' }).click()
  await waits(ana, 'one change is left', 1)
  await has(ana, 'the paragraph is right', CORRECTED.split('\n\n')[1])
  await ana.choose(1)
  await ana.bar('Reject')
  await waits(ana, 'nothing is left', 0)
}

/** Words that move are one change over two places, and come back as one. */
async function moved(ana) {
  const { page } = ana
  await put(ana, NOTE)
  await ana.ask('Move it')
  await waits(ana, 'one change', 1)
  await ana.choose(1)
  await page.getByText(/^Moved from (below ↓|above ↑): \d+ words$/).waitFor()
  same('it cannot be split', await page.getByRole('button', { name: /^Split/ }).count(), 0)
  await accessible(ana, 'words that move')
  await ana.screenshot('states-5-moved')
  await ana.bar('Accept')
  await eventually(
    'the words have moved',
    () => ana.text(),
    (text) => text.trim() === MOVED,
  )
  await page.keyboard.press('Control+z')
  await eventually(
    'and are back',
    () => ana.text(),
    (text) => text === NOTE,
  )
  await ana.bar('Reject')
  await waits(ana, 'nothing waits', 0)
}

/** A time limit of the document is shown on its requests. */
async function countdown(ana) {
  const { page } = ana
  const dialog = await settings(ana)
  await dialog.getByRole('combobox').first().selectOption({ index: 1 })
  await closed(ana, dialog)
  await ana.ask('Correct it')
  await waits(ana, 'three corrections with a time limit', 3)
  await page.locator('.countdown').waitFor()
  await accessible(ana, 'a countdown in a document')
  await ana.screenshot('states-6-countdown')
}

/** Which models may see the text is said in the settings, kept, and holds. */
async function models(ana) {
  const { page } = ana
  const dialog = await settings(ana)
  const local = dialog
    .getByRole('group', { name: 'Which models may see the text' })
    .getByRole('radio')
  const last = local.last()
  const before = await local.evaluateAll((all) => all.findIndex((one) => one.checked))
  await last.check()
  await accessible(ana, 'the settings of a review')
  await ana.screenshot('states-7-models')
  await closed(ana, dialog)
  await page.reload()
  await page.locator('.cm-content').waitFor()
  const again = await settings(ana)
  const chosen = again
    .getByRole('group', { name: 'Which models may see the text' })
    .getByRole('radio')
  await eventually(
    'it is kept',
    () => chosen.evaluateAll((all) => all.findIndex((one) => one.checked)),
    (at) => at !== before && at >= 0,
  )
  await chosen.nth(before).check()
  await closed(ana, again)
}

/** What was opened from the panel stays open when the window gets too small for the panel. */
async function smaller(ana) {
  const { page } = ana
  const wide = page.viewportSize()
  for (const [button, name] of [
    ['Review settings', 'Review settings'],
    ['Rules', 'Rules'],
    ['Compare side by side', 'Side by side'],
  ]) {
    await page.getByRole('button', { name: button, exact: true }).click()
    const dialog = page.getByRole('dialog', { name })
    await dialog.waitFor()
    if (name === 'Review settings') {
      const line = dialog.getByRole('form', { name: 'New policy' }).locator('select, button')
      const tops = await line.evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => top + height / 2),
      )
      holds(`one line: ${tops}`, Math.max(...tops) - Math.min(...tops) < 4)
    }
    await page.setViewportSize({ width: 820, height: 900 })
    holds(`${name} is still open`, await dialog.isVisible())
    await closed(ana, dialog)
    await page.setViewportSize(wide)
  }
}

async function dialogs(ana) {
  const { page } = ana
  for (const [action, name] of [
    ['Export', /Export/],
    ['Keyboard shortcuts', 'Keyboard shortcuts'],
  ]) {
    await ana.menu(action)
    await page.getByRole('dialog', { name }).waitFor()
    await accessible(ana, action)
    await ana.screenshot(`states-8-${action.toLowerCase().replace(' ', '-')}`)
    await page.keyboard.press('Escape')
  }
  await page.getByRole('link', { name: 'All documents' }).click()
  await page.getByRole('button', { name: 'Delete A note' }).click()
  await page.getByRole('dialog', { name: /^Delete/ }).waitFor()
  await accessible(ana, 'deleting a document')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Rename A note' }).click()
  await page.getByRole('dialog', { name: 'Rename document' }).waitFor()
  await accessible(ana, 'renaming a document')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /A note/ }).click()
  await page.locator('.cm-content').waitFor()
}

async function offline(ana) {
  const { page } = ana
  await waits(ana, 'the corrections', 3)
  await page.context().setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  await page.locator('.netbar').waitFor()
  await accessible(ana, 'without a connection')
  await ana.screenshot('states-9-offline')
  await page.context().setOffline(false)
  await page.locator('.netbar').waitFor({ state: 'detached' })
}

/** What is too large to be written at once is said before it is asked. */
async function tooLarge(ana) {
  const { page } = ana
  await page.evaluate(
    (insert) => {
      const { view } = document.querySelector('.cm-content').cmTile
      view.dispatch({ changes: { from: view.state.doc.length, insert } })
    },
    `\n\n${'Nothing else happened. '.repeat(6_000)}`,
  )
  await page.getByText('it writes at most 100,000 characters at once').waitFor()
  await accessible(ana, 'a warning of the composer')
  await ana.screenshot('states-10-composer')
}

async function errorPages(ana, server) {
  const { page } = ana
  await page.goto(`${server.url}/nowhere/at/all`)
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  await accessible(ana, 'a wrong address')
  await page.getByRole('button', { name: 'All documents' }).click()
  await page.getByRole('link', { name: /A note/ }).waitFor()
  await page.goto(`${server.url}/d/doc_that_is_not_there`)
  await page.locator('.fault').waitFor()
  await accessible(ana, 'a document that is gone')
  await ana.screenshot('states-11-gone')
}
