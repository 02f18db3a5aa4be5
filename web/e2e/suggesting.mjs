// Three people: one suggests, one writes beside it, one decides on a phone. What is typed while
// suggesting is shown to everybody in its place, and is the text once it is accepted.
import { idOf, textOf } from './rest.mjs'
import {
  IN_FIREFOX,
  PHONE,
  Writer,
  accessible,
  becomes,
  begin,
  caretAfter,
  eventually,
  has,
  holds,
  inText,
  isWritten,
  kept,
  listen,
  press,
  putsBack,
  reads,
  saidTo,
  same,
  saved,
  selects,
  story,
  toldBy,
  typesAfter,
  waits,
  written,
} from './support.mjs'

const TEXT = `# The lamp

The lamp was burning all night. Nobody had noticed it.

The boat came home in the morning.

The keeper slept. The keeper dreamed.`

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, TEXT, 'The lamp')
  const id = idOf(ana.page.url())
  const address = ana.page.url()
  const sue = await Writer.invited(browser, server, 'Sue', 'suggester', address)
  const cy = await Writer.invited(browser, server, 'Cy', 'reviewer', address, {
    ...PHONE,
    colorScheme: 'dark',
  })
  const all = { server, ana, sue, cy, id }
  await types(all)
  await decides(all)
  await edits(all)
  // Only Chromium can be told what an input method does.
  if (!IN_FIREFOX) await composes(all)
  await writesBeside(all)
  await breaks(all)
  await reloads(all)
  await switches(all)
  same('errors in the pages', [...ana.errors, ...sue.errors, ...cy.errors], [])
})

/** Waits until all that is suggested has arrived. */
function arrived(writer) {
  return saved(writer, 'the suggestion has arrived')
}

/** The words that a person's own suggestion puts in, as they see them. */
async function ownWords(writer) {
  const all = await writer.page.locator('ins.is-own').allTextContents()
  return all.map((words) => words.trim())
}

/** The words that others see suggested. */
async function newWords(writer) {
  const all = await writer.page.locator('.cm-new').allTextContents()
  return all.map((words) => words.trim())
}

/** A suggestion is seen by everybody in its place, and is not in the text. */
async function types({ server, ana, sue, id }) {
  const mode = sue.page.getByLabel('Mode')
  await becomes('the modes of a suggester', () => mode.locator('option').allTextContents(), [
    'Suggesting',
    'Reading',
  ])
  await becomes(
    'the modes of an owner',
    () => ana.page.getByLabel('Mode').locator('option').count(),
    3,
  )
  await listen(ana)
  await typesAfter(sue, 'The boat came home', ' at last')
  await arrived(sue)
  await waits(ana, 'Ana sees the change', 1)
  await becomes('what Ana sees in the text', () => newWords(ana), ['at last'])
  await becomes('who suggests it', () => ana.page.locator('article.card h3').allTextContents(), [
    'Sue suggests',
  ])
  same('the text', await textOf(server, id), TEXT)
  same('the text at Ana’s', await ana.text(), TEXT)
  await becomes('Sue’s own words', () => ownWords(sue), ['at last'])
  await has(sue, 'Sue’s text has them', 'home at last in')
  await eventually(
    'Ana is told once',
    () => saidTo(ana),
    (said) => said.filter((words) => words.startsWith('Sue suggests.')).length === 1,
  )
  await accessible(sue, 'suggesting')
  await accessible(ana, 'a suggestion of a person')
  await sue.screenshot('suggesting-1')
  await ana.screenshot('suggesting-1-other')
}

/** The phone decides: accepted words stay where they are, rejected ones go from under the caret. */
async function decides({ server, sue, cy, id }) {
  await decideOnPhone(cy, 'Accept')
  await eventually(
    'the words are in the text',
    () => textOf(server, id),
    (text) => text.includes('home at last in'),
  )
  await eventually(
    'they are Sue’s own no more',
    () => ownWords(sue),
    (words) => words.length === 0,
  )
  // What was typed before it was accepted is not taken back.
  await inText(sue)
  await press(sue, 'Control+z')
  await becomes('after an undo', () => sue.text(), await textOf(server, id))

  await typesAfter(sue, 'Nobody had noticed it', ' at all')
  await arrived(sue)
  await cy.screenshot('suggesting-2-phone')
  await accessible(cy, 'a suggestion on a phone in the dark')
  await decideOnPhone(cy, 'Reject')
  await toldBy(sue, 'Rejected: your words at the cursor are gone.')
  await reads(sue, 'without the rejected words', await textOf(server, id))
  // Over BiDi, letters can take so long that an undo would part them.
  await sue.page.keyboard[IN_FIREFOX ? 'insertText' : 'type'](' ever')
  await arrived(sue)
  await has(sue, 'the caret stayed', 'noticed it ever.')
  await sue.screenshot('suggesting-2')
  // All of it is taken back again.
  await press(sue, 'Control+z')
  await arrived(sue)
  await waits(cy, 'nothing is suggested any more', 0)
}

async function decideOnPhone(cy, button) {
  await waits(cy, 'one change', 1)
  await isWritten(cy)
  await cy.bar(button)
}

/** Deleting, formatting, pasting, several carets, find and replace. */
async function edits({ server, ana, sue, id }) {
  const before = await textOf(server, id)
  await selects(sue, 'all night')
  await press(sue, 'Delete')
  await selects(sue, 'morning')
  await press(sue, 'Control+b')
  await arrived(sue)
  await becomes('struck at Sue’s', () => sue.page.locator('del.is-own').allTextContents(), [
    'all night',
  ])
  await waits(ana, 'two changes', 2)
  await has(sue, 'the bold word', 'the **morning**.')

  // Several carets: one in each of two sentences.
  await sue.page.evaluate(() => {
    const { view } = document.querySelector('.cm-content').cmTile
    const Carets = view.state.selection.constructor
    const text = view.state.doc.toString()
    const places = [...text.matchAll(/The keeper/g)].map(({ index }) => index + 'The'.length)
    view.focus()
    view.dispatch({ selection: Carets.create(places.map((at) => Carets.cursor(at))) })
  })
  await sue.page.keyboard.type(' old')
  await arrived(sue)
  await has(sue, 'at both places', 'The old keeper slept. The old keeper dreamed.')

  // Find and replace.
  await inText(sue)
  await press(sue, 'Control+f')
  const bar = sue.page.locator('.find')
  await bar.getByLabel('Find', { exact: true }).fill('boat')
  await bar.getByLabel('Replace with', { exact: true }).fill('ship')
  await bar.getByRole('button', { name: 'Replace all' }).click()
  await press(sue, 'Escape')
  await arrived(sue)
  await has(sue, 'replaced', 'The ship came home')

  // A long paste.
  await sue.caret((await sue.text()).length)
  const lines = Array.from({ length: 60 }, (_, at) => `Line ${at + 1} of what was pasted.`)
  await sue.page.keyboard.insertText(`\n\n${lines.join('\n\n')}`)
  await arrived(sue)
  same('the text is what it was', await textOf(server, id), before)
  await accessible(sue, 'many changes of one’s own')
  await sue.screenshot('suggesting-3')
  await press(sue, 'Control+z')
  await arrived(sue)
  holds('the paste is taken back in one step', !(await sue.text()).includes('Line 1 of'))
  await ana.screenshot('suggesting-3-other')
}

/** A word of an input method is whole, and sent when it is done. */
async function composes({ sue, ana }) {
  await caretAfter(sue, '# The lamp')
  const session = await sue.page.context().newCDPSession(sue.page)
  for (const signs of ['n', 'に', 'にh', 'にほ', 'にほn', 'にほん']) {
    await session.send('Input.imeSetComposition', {
      text: signs,
      selectionStart: signs.length,
      selectionEnd: signs.length,
    })
    await sue.page.waitForTimeout(150)
  }
  await session.send('Input.insertText', { text: '日本' })
  await sue.page.keyboard.type('x')
  await arrived(sue)
  holds('the composed word', (await sue.text()).startsWith('# The lamp日本x\n'))
  await eventually(
    'Ana sees the word',
    () => newWords(ana),
    (words) => words.includes('日本x'),
  )
}

/** The owner writes through and beside the suggestion: both are there. */
async function writesBeside({ server, ana, sue, id }) {
  await typesAfter(ana, 'Nobody had noticed it', ', it seems')
  await typesAfter(sue, 'dreamed', ' of ships')
  await typesAfter(ana, 'The keeper slept', ' long')
  await saved(ana)
  await arrived(sue)
  const text = await textOf(server, id)
  holds('what Ana wrote', text.includes('noticed it, it seems.') && text.includes('slept long.'))
  holds('what Sue suggests is not in it', !text.includes('of ships'))
  for (const words of ['it, it seems.', 'The old keeper slept long.', 'dreamed of ships.'])
    await has(sue, 'what Sue sees', words)
  await eventually(
    'no change is in conflict',
    () => ana.conflicts(),
    (count) => count === 0,
  )
}

/** The connection breaks, and the server is killed, in the middle of a suggestion. */
async function breaks({ server, ana, sue, id }) {
  await sue.page.context().setOffline(true)
  await typesAfter(sue, 'came home', ' safely')
  await typesAfter(ana, 'burning', ' brightly')
  await saved(ana)
  await sue.page.context().setOffline(false)
  await eventually(
    'back',
    () => sue.text(),
    (text) => text.includes('burning brightly'),
  )
  await arrived(sue)
  await server.kill()
  await typesAfter(sue, 'came home', ' and')
  await kept(sue, ' and')
  await server.start()
  await arrived(sue)
  await has(sue, 'both words', 'came home and safely at last')
  holds('not in the text', !(await textOf(server, id)).includes('safely'))
  await eventually(
    'Ana sees them once',
    () => newWords(ana),
    (words) => words.join('|').split('safely').length === 2,
  )
}

/** Words that could not be sent before the page went are offered back, and go where they were. */
async function reloads({ server, sue }) {
  const before = await sue.text()
  await server.kill()
  await typesAfter(sue, 'The old keeper', ' Tom')
  await kept(sue, ' Tom')
  await server.start()
  await sue.page.evaluate(() => globalThis.stop())
  await sue.page.reload()
  await sue.page.locator('.cm-content').waitFor()
  const text = await eventually(
    'the text is back',
    () => sue.text(),
    (now) => now.length >= before.length,
  )
  if (!text.includes(' Tom')) {
    await sue.page.getByRole('button', { name: 'Show my words' }).click()
    await accessible(sue, 'unsent words of a suggestion')
    await putsBack(sue)
  }
  await arrived(sue)
  await has(sue, 'put back', 'The old keeper Tom')
  same('offered once', await sue.page.locator('.recovered').count(), 0)
}

/** A writer goes into Suggesting and back: what they suggest stays open, and goes on. */
async function switches({ server, ana, sue, id }) {
  const mode = ana.page.getByLabel('Mode')
  await mode.selectOption('suggesting')
  await ana.page.locator('.cm-content:not([aria-readonly])').waitFor()
  await typesAfter(ana, 'The keeper slept', ' well')
  await arrived(ana)
  const text = await textOf(server, id)
  holds('not in the text', !text.includes('slept well'))
  await mode.selectOption('editing')
  await reads(ana, 'the text of the server', text)
  await eventually(
    'it is drawn as others see it',
    () => newWords(ana),
    (words) => words.includes('well'),
  )
  await mode.selectOption('suggesting')
  await eventually(
    'it goes on',
    () => ana.text(),
    (now) => now.includes('slept well'),
  )
  await mode.selectOption('reading')
  await becomes(
    'reading',
    () => ana.page.locator('.cm-content').getAttribute('aria-readonly'),
    'true',
  )
  await ana.page.reload()
  await ana.page.locator('.cm-content').waitFor()
  await becomes('the mode is remembered', () => mode.inputValue(), 'reading')
  await mode.selectOption('editing')
  await sue.page.getByLabel('Mode').selectOption('reading')
  await reads(sue, 'Sue reads the text', text)
  await sue.screenshot('suggesting-4-reading')
}
