// Two writers review together: one types into the words the AI wants to replace; nothing of theirs
// is overwritten unseen.
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  same,
  story,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was burning all through the night. Nobody saw it, or said that they did. In the morning the boat had come back.'

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await accessible(ana, 'the list of documents')
  await ana.screenshot('together-1-list')
  await written(ana, NOTE, 'A note about a lamp')

  const bo = await Writer.open(browser, server, 'Bo', /A note about a lamp/, {
    colorScheme: 'dark',
  })
  same('the texts', await bo.text(), NOTE)
  await ana.ask('Tighten this, please')
  const proposed = await eventually(
    'changes',
    () => bo.changes(),
    (changes) => changes.length >= 3,
  )
  await accessible(bo, 'reviewing in the dark')

  // Bo puts the caret between the words "was burning" and types: Ana sees his caret and the
  // conflict.
  await bo.caret(NOTE.indexOf('burning') + 3)
  await bo.page.keyboard.type('X')
  await eventually(
    'the conflict in both',
    async () => [await ana.conflicts(), await bo.conflicts()],
    ([a, b]) => a === 1 && b === 1,
  )
  await ana.page.locator('.cm-peer-flag', { hasText: 'Bo' }).waitFor()
  await ana.page
    .locator('.hunk-row', { has: ana.page.locator('.badge') })
    .or(ana.page.locator('.hunk-row.is-active'))
    .first()
    .locator('.hunk-open')
    .click()
  // Which words differ from what the AI read.
  const differs = ana.page.locator('.sides dd').nth(1)
  same('what was changed', await differs.locator('del').allTextContents(), ['burning'])
  same('into what', await differs.locator('ins').allTextContents(), ['burXning'])
  await accessible(ana, 'a conflict')
  await ana.screenshot('together-3-conflict')

  // The words are back: the conflict clears by itself.
  await bo.page.keyboard.press('Backspace')
  await eventually(
    'no conflict in either',
    async () => [await ana.conflicts(), await bo.conflicts()],
    ([a, b]) => a === 0 && b === 0,
  )

  // Again, and accepting all leaves the words alone that Bo touched.
  await bo.page.keyboard.type('X')
  await eventually(
    'the conflict again',
    () => ana.conflicts(),
    (count) => count === 1,
  )
  await ana.acceptAll()
  await eventually(
    'only the conflict is left',
    () => ana.changes(),
    (changes) => changes.length === 1,
  )
  holds('Bo’s letter stands', (await ana.text()).includes('burXning'))
  await ana.page.getByRole('button', { name: /^Use the AI’s/ }).click()
  await eventually(
    'all decided',
    () => bo.changes(),
    (changes) => changes.length === 0,
  )
  const accepted = await eventually(
    'the AI’s words',
    () => bo.text(),
    (text) => text.startsWith('The lamp burned all night.'),
  )

  // Ctrl+Z takes the accept back, as one step, and its change waits again.
  await ana.page.locator('.cm-content').focus()
  await ana.page.keyboard.press('Control+z')
  await eventually(
    'the accept is taken back',
    () => bo.text(),
    (text) => text !== accepted && text.includes('burXning'),
  )
  await eventually(
    'its change waits again',
    () => bo.changes(),
    (changes) => changes.length === 1,
  )
  await bo.page.getByRole('button', { name: /^Reject 1 change/ }).click()
  await bo.page.getByRole('button', { name: 'Changes my meaning' }).click()
  await bo.page.locator('.reason button[type=submit]').click()
  await eventually(
    'nothing waits',
    () => ana.changes(),
    (changes) => changes.length === 0,
  )
  same('the texts at the end', await ana.text(), await bo.text())

  // Both type at once.
  await Promise.all(
    [ana, bo].map(async (writer, which) => {
      await writer.caret(which * 30)
      await writer.page.keyboard.type(which ? 'typed by Bo 😀 ' : 'typed by Ana 🌊 ', { delay: 5 })
    }),
  )
  await eventually(
    'the same text in both',
    async () => [await ana.text(), await bo.text()],
    ([a, b]) => a === b && a.includes('by Bo 😀') && a.includes('by Ana 🌊'),
  )

  const phone = await Writer.open(browser, server, 'Cy', /A note about a lamp/, PHONE)
  await ana.ask('Tighten it once more')
  await phone.page.locator('.review-bar').waitFor()
  await accessible(phone, 'a phone')
  await phone.screenshot('together-4-phone')
  await phone.page.locator('.review-bar .count').click()
  await phone.page.locator('.panel.is-open').waitFor()
  await accessible(phone, 'the sheet on a phone')
  await phone.screenshot('together-5-phone-sheet')

  same('the number of changes once proposed', proposed.length >= 3, true)
  same('errors in the pages', [...ana.errors, ...bo.errors, ...phone.errors], [])
})
