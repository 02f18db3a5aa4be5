// Who wrote this, and version history: two people and an AI write; each sees whose the words are,
// and goes back and forth.
import { Writer, accessible, begin, eventually, holds, same, story } from './support.mjs'

const NOTE =
  'The lamp was burning all through the night. Nobody saw it, or said that they did. In the morning the boat had come back.'
const SHORT =
  'The lamp burned all night. Nobody saw it, or said so. In the morning the boat was back.'

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await ana.page.getByRole('button', { name: 'New document' }).click()
  await ana.page.locator('.cm-content').click()
  await ana.page.keyboard.type(NOTE)
  await ana.page.getByLabel('Title', { exact: true }).fill('A note about a lamp')
  await ana.page.getByLabel('Title', { exact: true }).press('Enter')
  await ana.ask('Tighten this, please')
  await eventually(
    'changes',
    () => ana.changes(),
    (changes) => changes.length >= 3,
  )
  await ana.acceptAll()
  await eventually(
    'the shorter text',
    () => ana.text(),
    (text) => text === SHORT,
  )

  // Reached and pressed by keyboard alone.
  await ana.page.getByRole('button', { name: 'Menu' }).focus()
  await ana.page.keyboard.press('Enter')
  await ana.page.getByRole('menuitem', { name: 'Version history' }).waitFor()
  await ana.page.keyboard.press('ArrowDown')
  await ana.page.keyboard.press('Enter')
  holds('the next key is for the menu at once', await ana.page.evaluate(menuHasFocus))
  const legend = ana.page.getByRole('region', { name: 'Who wrote this' })
  await eventually(
    'a legend with both',
    () => legend.locator('li').allTextContents(),
    (parts) =>
      parts.some((part) => /^AI/.test(part)) && parts.some((part) => /^Owner \d+ %/.test(part)),
  )
  await ana.caret(SHORT.indexOf('burned') + 3)
  const here = () => legend.getByRole('status').textContent()
  await eventually('whose the words at the caret are', here, (words) =>
    /^AI, asked by Owner · accepted by Owner · .+ · request …/.test(words),
  )
  await ana.caret(2)
  await eventually('whose other words are', here, (words) => /^Owner · /.test(words))
  await accessible(ana, 'who wrote this')
  await ana.screenshot('history-1-authors')
  await ana.caret(0)
  await ana.page.keyboard.type('So. ')
  await eventually('what was just typed', here, (words) => /^Owner · /.test(words))

  const bo = await Writer.open(browser, server, 'Bo', /A note about a lamp/, {
    colorScheme: 'dark',
  })
  await bo.menu('Who wrote this')
  await bo.page.locator('.cm-by.by-ai').first().waitFor()
  await accessible(bo, 'who wrote this, in the dark')
  await bo.screenshot('history-2-authors-dark')

  for (const [writer, name] of [
    [ana, 'history-3-versions'],
    [bo, 'history-4-versions-dark'],
  ]) {
    await writer.menu('Version history')
    const steps = writer.page.locator('.step')
    await eventually(
      'three steps',
      () => steps.allTextContents(),
      (all) => all.length === 3 && all.every((step) => /words?$/.test(step)),
    )
    holds('the accept is named', /Accepted AI changes/.test(await steps.nth(1).textContent()))
    await steps.nth(2).click()
    await eventually(
      'the first text, and what is new in it',
      () => writer.page.locator('.version-text ins').allTextContents(),
      (words) => words.some((word) => word.includes('burned')),
    )
    await accessible(writer, `${name}`)
    await writer.screenshot(name)
  }
  await bo.page.getByRole('button', { name: 'Close' }).first().click()
  await ana.page.getByRole('button', { name: 'Restore this version' }).click()
  await eventually(
    'the first text again, for both',
    async () => [await ana.text(), await bo.text()],
    (texts) => texts.every((text) => text === NOTE),
  )
  await ana.caret(NOTE.indexOf('burning') + 3)
  await eventually('the words are hers again', here, (words) => /^Owner · /.test(words))
  await ana.page
    .locator('.toast', { hasText: 'Restored the version of' })
    .getByRole('button', { name: 'Undo' })
    .click()
  await eventually(
    'undone',
    () => bo.text(),
    (text) => text === `So. ${SHORT}`,
  )
  await ana.screenshot('history-5-undone')
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/** In the page: opens the menu and asks before anything is drawn; then closes it. */
async function menuHasFocus() {
  const button = [...document.querySelectorAll('[aria-haspopup=menu]')].find(
    ({ textContent }) => textContent.trim() === 'Menu',
  )
  button.click()
  // The editor renders in a microtask; a frame comes later.
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  const focused = document.activeElement?.getAttribute('role') ?? ''
  button.click()
  return focused.startsWith('menuitem')
}
