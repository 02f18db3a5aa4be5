// Comments by keyboard alone, on a phone, kept as drafts across reloads and without a server.
import { field, threads } from './commentCards.mjs'
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  press,
  same,
  saved,
  selects,
  story,
  written,
} from './support.mjs'

const NOTE = 'The lamp was lit at six.\n\nNobody came up the stair.\n\nThe boat had gone.'
const HALF = 'Is this the sta'

const focused = (writer) =>
  writer.page.evaluate(() => {
    const { activeElement: now } = document
    return now.getAttribute('aria-label') ?? now.dataset.thread ?? now.textContent
  })
const focusIs = (writer, what, check) => eventually(what, () => focused(writer), check)
const drafts = (writer) => writer.page.locator('.thread.is-draft')

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'The stair')
  await byKeyboard(ana)
  await drafted(ana)
  await offline(ana, server)
  await onAPhone(browser, server, ana)
  same('errors in the page', ana.errors, [])
})

/** From the text to the comment and back, without a mouse. */
async function byKeyboard(ana) {
  const { page } = ana
  await ana.caret(0)
  for (let word = 0; word < 2; word++) await press(ana, 'Control+Shift+ArrowRight')
  await press(ana, 'Control+Alt+m')
  await focusIs(ana, 'the field', (now) => now === 'Comment')
  await page.keyboard.type('Which lamp?')
  await press(ana, 'Control+Enter')
  await focusIs(ana, 'the new thread', (now) => now.startsWith('thr_'))
  await press(ana, 'Tab')
  await focusIs(ana, 'its words', (now) => now === 'The lamp')
  // Past the tools of the comment to the reply.
  for (let step = 0; step < 3; step++) await press(ana, 'Tab')
  await focusIs(ana, 'the reply', (now) => now === 'Reply')
  await page.keyboard.type('The old one.')
  await press(ana, 'Control+Enter')
  await threads(ana).getByText('The old one.').waitFor()
  await press(ana, 'Escape')
  await focusIs(ana, 'the thread again', (now) => now.startsWith('thr_'))
  await press(ana, 'Escape')
  await focusIs(ana, 'the text', (now) => now.startsWith('Text of'))
  // In commented words the key leads to their thread; elsewhere it is about the whole document.
  await press(ana, 'Control+Alt+m')
  await focusIs(ana, 'the thread from its words', (now) => now.startsWith('thr_'))
  await ana.caret(NOTE.length)
  await press(ana, 'Control+Alt+m')
  await focusIs(ana, 'the field', (now) => now === 'Comment')
  await page.keyboard.type('A good text.')
  await press(ana, 'Control+Enter')
  await eventually(
    'two threads, the whole document first',
    () => threads(ana).locator('h3').allTextContents(),
    (all) => all.length === 2 && all[0].startsWith('On the whole document'),
  )
  await accessible(ana, 'threads')
  await ana.screenshot('comments-alone-1-threads')
}

/** Half a comment outlives a reload, and finds its words where they are then. */
async function drafted(ana) {
  const { page } = ana
  await selects(ana, 'the stair')
  await press(ana, 'Control+Alt+m')
  await page.keyboard.type(HALF)
  await press(ana, 'Escape')
  await ana.caret(0)
  await page.keyboard.type('So. ')
  await saved(ana)
  await page.reload()
  await page.locator('.cm-content').waitFor()
  await page.locator('.panel-tab', { hasText: 'Comments' }).click()
  await drafts(ana).getByText(HALF).waitFor()
  await accessible(ana, 'a draft')
  await ana.screenshot('comments-alone-2-draft')
  await drafts(ana).getByRole('button', { name: 'Continue' }).click()
  same('the draft', await field(ana, 'Comment').inputValue(), HALF)
  await page.keyboard.press('End')
  await page.keyboard.type('ir?')
  await press(ana, 'Control+Enter')
  await threads(ana).getByText(`${HALF}ir?`).waitFor()
  await eventually(
    'the words it is about',
    () => page.locator('.cm-comment').allTextContents(),
    (all) => all.includes('the stair'),
  )
  same('drafts', await drafts(ana).count(), 0)

  // Too long is said before it is sent.
  await page.getByRole('button', { name: 'New comment on the document' }).click()
  await field(ana, 'Comment').fill('x'.repeat(10_002))
  await page.getByText('2 characters too long.').waitFor()
  holds(
    'it cannot be sent',
    await page.getByRole('button', { name: 'Comment', exact: true }).isDisabled(),
  )
  await field(ana, 'Comment').fill('')
  await press(ana, 'Escape')
}

/** A comment that cannot be sent is kept, with a word, and sent later. */
async function offline(ana, server) {
  const { page } = ana
  await server.kill()
  await page.locator('.netbar').waitFor({ timeout: 60_000 })
  await page.getByRole('button', { name: 'New comment on the document' }).click()
  await field(ana, 'Comment').fill('Written at sea.')
  await page.getByText('You are offline. It is kept as a draft.').waitFor()
  await press(ana, 'Control+Enter')
  await press(ana, 'Escape')
  await drafts(ana).getByText('Written at sea.').waitFor()
  await ana.screenshot('comments-alone-3-offline')
  await server.start()
  await page.locator('.netbar').waitFor({ state: 'detached', timeout: 60_000 })
  await drafts(ana).getByRole('button', { name: 'Continue' }).click()
  await field(ana, 'Comment').press('Control+Enter')
  await threads(ana).getByText('Written at sea.').waitFor()
}

/** Selected by touch, commented in the sheet, opened from the mark. */
async function onAPhone(browser, server, ana) {
  const phone = await Writer.open(browser, server, 'Cy', /The stair/, PHONE)
  const { page } = phone
  await page.locator('.cm-comment-mark').first().tap()
  await page.locator('.panel.is-open .threads').waitFor()
  await accessible(phone, 'threads on a phone')
  await phone.screenshot('comments-alone-4-phone')
  await page.getByRole('button', { name: 'Close comments' }).tap()
  // As a long press does.
  await selects(phone, 'boat')
  await page.locator('.selection-menu').getByRole('button', { name: 'Comment' }).tap()
  await field(phone, 'Comment').fill('Which boat?')
  await phone.screenshot('comments-alone-5-phone-field')
  await page.locator('.comment-field').getByRole('button', { name: 'Comment' }).tap()
  await threads(phone).getByText('Which boat?').waitFor()
  await threads(ana).getByText('Which boat?').waitFor()
  same('errors on the phone', phone.errors, [])
}
