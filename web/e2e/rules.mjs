// Not being asked again: Ana remembers a small correction; the next one goes in by her rule, marked
// and undoable; the larger one asks; the other browser sees all of it, revokes the rule, and the
// next correction asks again.
import { Writer, accessible, begin, eventually, same, story, written } from './support.mjs'

const NOTE = 'Teh keeper wrote. He recieved letters. It was dark.'
const FIRST = 'The keeper wrote. He recieved letters. It was dark.'
const SECOND = 'The keeper wrote. He received letters. It was dark.'

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'A ledger')
  const bo = await Writer.open(browser, server, 'Bo', /A ledger/, { colorScheme: 'dark' })

  await ana.ask('The first word, please')
  const offer = ana.page.getByRole('button', { name: /Don’t ask again for small corrections/ })
  await ana.page.locator('.more-decisions summary').click()
  await offer.click()
  const wish = ana.page.getByRole('dialog')
  await wish.getByText(/This suggestion changes 6/).waitFor()
  await wish
    .getByText(
      /at most 20 characters changed, only changes that keep the meaning, whoever asks: accepted at once, in your name/,
    )
    .waitFor()
  await wish.getByLabel(/Corrections of up to/).selectOption('50')
  await wish.getByLabel('only me, in this document').check()
  await wish.getByRole('checkbox', { name: /keep the meaning/ }).uncheck()
  await wish.getByText(/at most 50 characters changed, only what you ask for/).waitFor()
  await accessible(ana, 'the wish to remember')
  await ana.screenshot('rules-1-wish')
  await wish.getByRole('button', { name: /and remember$/ }).click()
  await eventually(
    'the first correction',
    () => bo.text(),
    (text) => text === FIRST,
  )
  await wish.waitFor({ state: 'detached' })
  await bo.page.getByRole('button', { name: 'Rules (1)' }).waitFor()

  await ana.ask('The second word, please')
  await eventually(
    'the second correction, unasked',
    () => bo.text(),
    (text) => text === SECOND,
  )
  const card = (writer, prompt) => writer.page.locator('article.card', { hasText: prompt })
  await card(bo, 'The second word').locator('.by-rule').getByText('Accepted by').waitFor()
  await card(bo, 'The second word').getByText('Show the changes').click()
  await card(bo, 'The second word')
    .locator('.decided-row')
    .getByText(/^Accepted by your rule, /)
    .waitFor()
  await accessible(bo, 'an automatic approval in the dark')
  await ana.screenshot('rules-2-accepted')
  await bo.screenshot('rules-2-accepted-dark')

  await card(bo, 'The second word').getByRole('button', { name: 'Undo 1 change' }).click()
  await eventually(
    'undone in both',
    async () => [await ana.text(), await bo.text()],
    ([a, b]) => a === FIRST && b === FIRST,
  )
  await eventually(
    'it waits for people again',
    () => ana.changes(),
    (changes) => changes.length === 1,
  )
  await ana.page.getByRole('button', { name: 'Accept 1 change', exact: true }).click()
  await eventually(
    'accepted by hand',
    () => bo.text(),
    (text) => text === SECOND,
  )

  await ana.ask('The third sentence, please')
  await eventually(
    'the larger one asks',
    () => bo.changes(),
    (changes) => changes.length > 0,
  )
  same('the text while it waits', await bo.text(), SECOND)
  await ana.page.getByRole('button', { name: /^Reject (all|1 change)/ }).click()
  await ana.page.getByRole('button', { name: /^Reject (all|1 change)/ }).click()
  await eventually(
    'nothing waits',
    () => bo.changes(),
    (changes) => changes.length === 0,
  )

  await bo.page.getByRole('button', { name: 'Rules (1)' }).click()
  const rules = bo.page.getByRole('dialog')
  await rules.getByText('Rewrite, at most 50 characters changed').waitFor()
  await rules.getByText(/^only what .+ asks for · your rule/).waitFor()
  await accessible(bo, 'the rules in the dark')
  await bo.screenshot('rules-3-list-dark')
  await rules.getByRole('button', { name: /^Revoke/ }).click()
  await rules.getByText('No rules: every change needs a decision.').waitFor()
  await ana.page.getByRole('button', { name: 'Rules (1)' }).waitFor({ state: 'detached' })

  await rules.getByLabel('What the rule does').selectOption('deny')
  await rules.getByLabel(/characters/).fill('10')
  await rules.getByRole('button', { name: 'Add rule' }).click()
  await rules.getByText('Denied: Every tool, more than 10 characters changed').waitFor()
  await accessible(bo, 'a rule that denies, in the dark')
  await bo.screenshot('rules-4-denied-dark')
  await ana.page.getByRole('button', { name: 'Rules (1)' }).waitFor()
  const answers = () => ana.page.getByText('As you like.').count()
  const before = await answers()
  await ana.ask('The third sentence, denied')
  await eventually('an answer without a suggestion', answers, (count) => count > before)
  same('the text after a denial', [await bo.text(), (await bo.changes()).length], [SECOND, 0])
  await rules.getByRole('button', { name: /^Revoke/ }).click()
  await rules.getByText('No rules: every change needs a decision.').waitFor()
  await rules.getByRole('button', { name: 'Close' }).click()

  await ana.page.getByRole('button', { name: 'Review settings' }).click()
  const settings = ana.page.getByRole('dialog')
  await settings.getByLabel(/^above/).fill('2000')
  await settings.getByRole('button', { name: 'Add', exact: true }).click()
  await settings.getByText('Every tool above 2000 characters: an owner').waitFor()
  await settings.getByText('Require approval everywhere').scrollIntoViewIfNeeded()
  await accessible(ana, 'policies and the server’s settings')
  await ana.screenshot('rules-5-settings')
  await settings.getByRole('button', { name: /^Remove/ }).click()
  await settings
    .getByText('Every tool above 2000 characters: an owner')
    .waitFor({ state: 'detached' })
  await settings.getByRole('button', { name: 'Close' }).click()
  await ana.page.locator('.cm-content').click()
  await ana.page.keyboard.press('Control+Home')
  await ana.page.keyboard.press('Shift+ArrowRight')
  await ana.page.keyboard.type('t')
  await ana.ask('The second word, again')
  await eventually(
    'without the rule it asks',
    () => bo.changes(),
    (changes) => changes.length === 1,
  )
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})
