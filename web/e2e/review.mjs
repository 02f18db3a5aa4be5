// The act of reviewing a text longer than the screen: only a change that is seen is decided,
// nobody's decision lands on another change, everything can be taken back, and there is room to
// work on every screen.
import { readFileSync } from 'node:fs'
import {
  PHONE,
  Writer,
  accessible,
  announced,
  begin,
  eventually,
  holds,
  inText,
  listen,
  looks,
  press,
  same,
  story,
  toasts,
  waits,
  written,
} from './support.mjs'

const SCRIPT = process.env.COPYDESK_MODEL.replace(/^script:/, '')
const PROPOSED = JSON.parse(readFileSync(SCRIPT, 'utf8')).turns[0].content[0].input.new_content
const WORDS = { the: 'teh', received: 'recieved', separate: 'seperate' }
/** One small word of each part is misspelt. */
const NOTE = PROPOSED.split('\n\n')
  .map((part, at) => {
    const right = Object.keys(WORDS)[(at - 1) % 3]
    return at === 0 ? part : part.replace(`account ${right} `, `account ${WORDS[right]} `)
  })
  .join('\n\n')
const COUNT = 16
const LETTER =
  'The keeper of the lamp wrote a rather long letter to his only sister almost every night.\n\nHe recieved few visitors there.\n\nNobody came by sea.'

/** What somebody looks at, once the panel has drawn what the last key did. */
const settled = async (writer) => {
  let before = null
  const same = (now) => {
    const known = before
    before = now.id
    return now.id === known
  }
  return eventually('the panel is drawn', () => looks(writer), same)
}
/** Waits until the active change can be read: a press before that only shows it. */
const isSeen = (writer) =>
  eventually(
    'the active change is in view',
    () => looks(writer),
    ({ seen }) => seen,
  )
const focus = (writer) =>
  writer.page.evaluate(() =>
    document.activeElement.matches('.cm-content')
      ? 'text'
      : document.activeElement.closest('[data-review-bar]')
        ? 'bar'
        : document.activeElement.tagName,
  )
const toTop = (writer) =>
  writer.page.evaluate(() => document.querySelector('.page-scroll').scrollTo(0, 0))

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'An account')
  const bo = await Writer.open(browser, server, 'Bo', /An account/, { colorScheme: 'dark' })
  const phone = await Writer.open(browser, server, 'Cy', /An account/, PHONE)
  await listen(ana)
  await proposed(ana)

  await room(ana, phone)
  await onPhone(phone, ana)
  await shows(ana)
  await takesBack(ana)
  await races(ana, bo)
  await caretAndLetters(ana)
  await edits(ana)
  await together(ana)
  await toTheEnd(ana)
  await comparesAndSplits(ana, phone)
  same('errors in the pages', [...ana.errors, ...bo.errors, ...phone.errors], [])
})

async function proposed(ana) {
  await ana.ask('Correct the words')
  await waits(ana, 'sixteen changes', COUNT)
}

/** Rows of the list that are whole on the screen. */
function rows(writer) {
  return writer.page.evaluate(() => {
    const body = document.querySelector('.panel-body').getBoundingClientRect()
    const foot = document.querySelector('.proposal-foot').getBoundingClientRect()
    const end = Math.min(body.bottom, foot.top)
    return [...document.querySelectorAll('.hunk-row')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return top >= body.top && bottom <= end
    }).length
  })
}

async function room(ana, phone) {
  await ana.page.setViewportSize({ width: 1150, height: 720 })
  await eventually(
    'rows at 1150 × 720',
    () => rows(ana),
    (count) => count >= 6,
  )
  await ana.screenshot('review-1-1150')
  await ana.page.setViewportSize({ width: 820, height: 900 })
  await ana.screenshot('review-1-820')
  await ana.page.setViewportSize({ width: 1440, height: 900 })
  await ana.screenshot('review-1-1440')
  // One set of buttons for the active change, and a mark for every change that is on the page.
  same(
    'the buttons that accept the active change',
    await ana.page.getByRole('button', { name: /^Accept change 1\b/ }).count(),
    1,
  )
  const marked = await ana.page.evaluate(() => {
    const shown = [...document.querySelectorAll('.cm-gone')]
    const marks = [...document.querySelectorAll('.cm-hunk-mark:not([hidden])')]
    return [shown.length, marks.length]
  })
  holds(`marks for changes: ${marked}`, marked[0] > 2 && marked[0] === marked[1])
  await accessible(ana, 'reviewing')

  await waits(phone, 'the changes on the phone', COUNT)
  await phone.page.locator('.review-bar .count').click()
  await phone.page.locator('.panel.is-open').waitFor()
  await eventually(
    'rows on a phone',
    () => rows(phone),
    (count) => count >= 3,
  )
  await accessible(phone, 'the list on a phone')
  await phone.screenshot('review-2-phone-list')
  await phone.page.getByRole('button', { name: 'Close suggestions' }).click()
}

/** A tap on what is not on the screen shows it; the next one decides it. */
async function onPhone(phone, ana) {
  await phone.page.locator('.page-scroll').evaluate((page) => page.scrollTo(0, page.scrollHeight))
  const before = await eventually(
    'the phone looks elsewhere',
    () => looks(phone),
    ({ seen }) => !seen,
  )
  await phone.page.locator('.review-bar .is-primary').tap()
  await eventually(
    'the change comes into view',
    () => looks(phone),
    ({ seen, id }) => seen && id === before.id,
  )
  same('nothing was decided', (await looks(phone)).waiting, before.waiting)
  await phone.screenshot('review-2-phone-shown')
  // Two taps right after each other are one.
  await phone.page.waitForTimeout(400)
  await phone.page.locator('.review-bar .is-primary').tap()
  await waits(ana, 'the phone accepted it', COUNT - 1)
  await eventually(
    'the next one is in view on the phone',
    () => looks(phone),
    ({ seen, id }) => seen && id === before.waiting[1],
  )
  await phone.page.getByRole('button', { name: 'Undo' }).tap()
  await waits(ana, 'taken back on the phone', COUNT)
  await accessible(phone, 'reviewing on a phone')
  await phone.menu('Focus mode')
  await accessible(phone, 'reviewing on a phone in focus mode')
  await phone.menu('Focus mode')
}

/**
 * By the bar's button and by chord: what is decided is in view, and what comes next is brought
 * there and said.
 */
async function shows(ana) {
  await ana.choose(1)
  for (let left = COUNT; left > COUNT - 8; left--) {
    const { id, waiting } = await eventually(
      `the active change of ${left} is in view`,
      () => looks(ana),
      ({ seen, id }) => seen && id !== null,
    )
    if (left % 2 === 0) await ana.bar('Accept')
    else {
      await inText(ana)
      await press(ana, 'Control+Enter')
    }
    await waits(ana, 'one change less', left - 1)
    same(
      'the change that was decided',
      (await looks(ana)).waiting,
      waiting.filter((other) => other !== id),
    )
    await eventually(
      'the change one lands on is said',
      () => announced(ana),
      (words) => words.startsWith('Accepted. Change 1 of '),
    )
  }
  await ana.screenshot('review-3-in-view')

  // Out of view, a press only shows.
  await toTop(ana)
  const before = await eventually(
    'out of view',
    () => looks(ana),
    ({ seen }) => !seen,
  )
  await ana.bar('Reject')
  await isSeen(ana)
  same('nothing was decided', (await looks(ana)).waiting, before.waiting)
}

/**
 * Word, accept, reject: each is taken back by Ctrl+Z, in order; the bin and the reason are there at
 * once.
 */
async function takesBack(ana) {
  const { page } = ana
  const left = COUNT - 8
  await inText(ana)
  const text = await ana.text()
  await isSeen(ana)
  await press(ana, 'Control+Enter')
  await waits(ana, 'accepted', left - 1)
  await isSeen(ana)
  await press(ana, 'Control+Shift+Enter')
  await waits(ana, 'rejected', left - 2)
  same('what is said', await toasts(ana), ['Rejected.'])
  holds('it is said aloud', (await announced(ana)).startsWith('Rejected. Change '))
  await press(ana, 'Control+End')
  await page.keyboard.type('end')
  await press(ana, 'Control+z')
  await eventually(
    'the word is taken back',
    () => ana.text(),
    (now) => !now.endsWith('end'),
  )
  await waits(ana, 'and no decision', left - 2)
  await press(ana, 'Control+z')
  await waits(ana, 'the reject is taken back', left - 1)
  holds('the accept stands', (await ana.text()) !== text)
  same('what was said is gone', await toasts(ana), [])
  await press(ana, 'Control+z')
  await waits(ana, 'the accept is taken back', left)
  await eventually(
    'the first text',
    () => ana.text(),
    (now) => now === text,
  )

  await ana.choose(2)
  await page
    .locator('.hunk-row.is-active')
    .getByRole('button', { name: /^Add a reason/ })
    .click()
  await page.getByLabel('Reason in your own words').fill('She spells it so')
  await page.locator('.reason button[type=submit]').click()
  await waits(ana, 'rejected with a reason', left - 1)
  await page.locator('.decided summary').first().click()
  await page.locator('.decided-row', { hasText: '“She spells it so”' }).waitFor()
  const back = page.locator('.proposal').getByRole('button', { name: /^Bring back/ })
  same('ways back for one change', await back.allTextContents(), ['Bring back the rejected change'])
  await page.getByRole('button', { name: 'Bin' }).click()
  await page.locator('.binned .decided-row').first().waitFor()
  await accessible(ana, 'the bin during a review')
  await ana.screenshot('review-4-bin')
  await page.getByRole('button', { name: 'Bin' }).click()
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await waits(ana, 'taken back from the toast', left)
}

/** Both look at the same change; Ana decides it, Bo presses a moment later. */
async function races(ana, bo) {
  for (const [round, delay] of [60, 150, 400, 700, 1_200, 90, 250].entries()) {
    // The list is drawn a moment after the text has changed, so the first press may be too early.
    const [, his] = await eventually(
      'both look at the first change',
      async () => {
        for (const writer of [ana, bo]) await writer.choose(1)
        return [await looks(ana), await looks(bo)]
      },
      ([hers, other]) => hers.id === hers.waiting[0] && other.id === hers.id,
    )
    await ana.bar('Accept')
    await bo.page.waitForTimeout(delay)
    await bo.page.locator('.review-bar .button').first().click()
    await bo.page.waitForTimeout(100)
    const now = await eventually(
      'the one change is gone',
      () => looks(bo),
      ({ waiting }) => waiting.length < his.waiting.length,
    )
    same(
      `what waits, ${delay} ms later`,
      now.waiting,
      his.waiting.filter((id) => id !== his.id),
    )
    await eventually(
      `who was faster, under his eyes, ${delay} ms later`,
      () => bo.page.locator('.cm-outcome').allTextContents(),
      ([words]) => words?.startsWith('Accepted by Owner (as Ana)'),
    )
    if (round === 0) {
      await accessible(bo, 'a change that somebody else decided')
      await bo.screenshot('review-5-decided-by-other')
      await bo.page.getByRole('button', { name: 'Next change' }).click()
      await eventually(
        'he goes on when he wants to',
        () => looks(bo),
        ({ id, seen }) => seen && id !== null,
      )
    }
    await ana.page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await waits(bo, 'back again', his.waiting.length)
  }
}

/** F8 brings the caret along, and letters of the review are never written. */
async function caretAndLetters(ana) {
  const { page } = ana
  await inText(ana)
  await press(ana, 'Control+Home')
  await press(ana, 'F8')
  await press(ana, 'F8')
  const { id } = await settled(ana)
  await page.keyboard.type('here ')
  const text = await ana.text()
  const word = Object.values(WORDS).find((bad) => text.includes(`here ${bad}`))
  holds('what is typed after F8 stands at the change', word !== undefined)
  same('the active change', (await settled(ana)).id, id)
  for (let letter = 0; letter < 'here '.length; letter++) await press(ana, 'Backspace')
  // Who leaves the text in the middle of a word and writes on decides nothing.
  const { waiting } = await looks(ana)
  await page.keyboard.type('x')
  await press(ana, 'Backspace')
  await press(ana, 'Escape')
  await page.keyboard.type('area', { delay: 60 })
  same('what waits', (await looks(ana)).waiting, waiting)
  await press(ana, 'Escape')
}

/** In its own place; what is half-written is kept. */
async function edits(ana) {
  const { page } = ana
  const left = (await ana.changes()).length
  await ana.choose(2)
  await ana.bar('Edit')
  const field = page.locator('.cm-content .hunk-edit textarea')
  await field.waitFor()
  holds('the field has the keyboard', await field.evaluate((at) => at === document.activeElement))
  await field.fill('my own words')
  await accessible(ana, 'an edit in the text')
  await ana.screenshot('review-6-edit')
  await press(ana, 'Escape')
  await field.waitFor({ state: 'detached' })
  same('nothing was decided', (await ana.changes()).length, left)
  await ana.bar('Edit')
  holds('what is kept', (await field.inputValue()).startsWith('my own words'))
  await press(ana, 'Escape')
  await field.waitFor({ state: 'detached' })
  await keptEdit(ana, left)
  await ana.choose(2)
  await ana.bar('Edit')
  await field.fill('my own words')
  await press(ana, 'Control+Enter')
  await waits(ana, 'accepted with edits', left - 1)
  holds('the words are in the text', (await ana.text()).includes('my own words'))
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await waits(ana, 'and taken back', left)
}

/** An edit that is kept is what Accept puts in, and one's own decision without it loses nothing. */
async function keptEdit(ana, left) {
  const { page } = ana
  const row = page.locator('.hunk-row', { hasText: 'Edit saved' })
  const card = page.locator('.orphans')
  const undo = page.locator('.toast').getByRole('button', { name: 'Undo' })
  await row.waitFor()
  await page.getByRole('button', { name: /^Accept your edit of change 2/ }).waitFor()
  await accessible(ana, 'an edit that is kept')
  await ana.screenshot('review-6-kept-edit')
  await inText(ana)
  await page.waitForTimeout(500)
  await press(ana, 'Control+Enter')
  await waits(ana, 'accepted as edited', left - 1)
  holds('the edit is in the text', (await ana.text()).includes('my own words'))
  same('words that were not used', await card.count(), 0)
  await press(ana, 'Control+z')
  await waits(ana, 'the change again', left)
  await row.waitFor()

  await ana.bar('Reject')
  await waits(ana, 'rejected', left - 1)
  same(
    'who did not use the words',
    await card.locator('.card-note').textContent(),
    'You rejected it. These words were not used.',
  )
  const [end, begin] = await page.evaluate(() => [
    document.querySelector('.orphans').getBoundingClientRect().bottom,
    document.querySelector('.panel-body').getBoundingClientRect().top,
  ])
  holds('the card lies over no change', end <= begin)
  await accessible(ana, 'words that were not used')
  await ana.screenshot('review-6-unused-words')
  await undo.click()
  await waits(ana, 'open again', left)
  await row.waitFor()
  await card.waitFor({ state: 'detached' })

  await ana.choose(2)
  await ana.bar('Reject')
  await card.getByRole('button', { name: 'Discard' }).click()
  await card.waitFor({ state: 'detached' })
  holds(
    'the list has the keyboard',
    await page.evaluate(() => document.activeElement.matches('.panel-body')),
  )
  await undo.click()
  await waits(ana, 'open again, as it was proposed', left)
  await row.waitFor({ state: 'detached' })
}

/** Several at once: each is listed before they are decided. The text can be read as it would be. */
async function together(ana) {
  const { page } = ana
  const view = page.locator('.review-bar .text-view')
  const shown = () => page.locator('.cm-content').textContent()
  await ana.choose(1)
  await view.selectOption('proposed')
  await eventually('as proposed', shown, (words) => !/teh|recieved|seperate/.test(words))
  same('nothing is struck', await page.locator('.cm-gone').count(), 0)
  await ana.screenshot('review-7-proposed')
  await accessible(ana, 'the text as proposed')
  const { waiting } = await looks(ana)
  same('the change to decide is marked', await page.locator('.cm-proposed.is-active').count(), 1)
  await ana.bar('Accept')
  await waits(ana, 'decided as it reads', waiting.length - 1)
  same('still as proposed', await page.locator('.cm-gone').count(), 0)
  same('the next one is marked', await page.locator('.cm-proposed.is-active').count(), 1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await waits(ana, 'taken back as it reads', waiting.length)
  const text = await ana.text()
  await ana.caret(3)
  await page.keyboard.type('x')
  await page.getByText('This view is for reading and deciding.').waitFor()
  same('the text is not typed into', await ana.text(), text)
  await ana.choose(1)
  await view.selectOption('original')
  await eventually('as it is', shown, (words) => /teh|recieved|seperate/.test(words))
  same('nothing is marked', await page.locator('.cm-gone, .cm-new').count(), 0)
  await view.selectOption('markup')

  await page
    .locator('.hunk-row.is-active')
    .getByRole('button', { name: /^Decide all \d+ alike/ })
    .click()
  const list = page.locator('dialog.together')
  await list.locator('li').nth(1).waitFor()
  const listed = await list.locator('li').allTextContents()
  holds(`those alike: ${listed}`, listed.length > 1 && listed.length < waiting.length)
  same('nothing is decided yet', (await looks(ana)).waiting, waiting)
  await accessible(ana, 'changes that are alike')
  await ana.screenshot('review-8-together')
  await list.getByRole('button', { name: `Accept ${listed.length} changes` }).click()
  await waits(ana, 'they are decided', waiting.length - listed.length)
  await list.waitFor({ state: 'detached' })
}

/** Letters too many are not written, and the keyboard stays in the bar. */
async function toTheEnd(ana) {
  const { page } = ana
  await inText(ana)
  await press(ana, 'F8')
  await press(ana, 'Escape')
  let left = (await ana.changes()).length
  while (left > 0) {
    await isSeen(ana)
    await press(ana, left % 2 === 0 ? 'a' : 'r')
    await waits(ana, 'one less', --left)
  }
  const text = await ana.text()
  await page.keyboard.type('arkjare')
  same('the text', await ana.text(), text)
  same('the keyboard is in', await focus(ana), 'bar')
  await accessible(ana, 'the end of a review')
  await ana.screenshot('review-9-end')
  await press(ana, 'u')
  await waits(ana, 'the last one back', 1)
  same('the keyboard is still in', await focus(ana), 'bar')
}

/**
 * A sentence that changes in several places: read beside what it would be, then decided place by
 * place.
 */
async function comparesAndSplits(ana, phone) {
  const { page } = ana
  await page.getByRole('link', { name: 'All documents' }).click()
  await page.getByRole('button', { name: 'New document' }).click()
  await page.locator('.cm-content').click()
  await page.keyboard.insertText(LETTER)
  await page.getByLabel('Title', { exact: true }).fill('A letter')
  await page.getByLabel('Title', { exact: true }).press('Enter')
  await listen(ana)
  await ana.ask('Tighten it')
  await waits(ana, 'a rewrite and a correction', 2)

  const open = page.getByRole('button', { name: 'Compare side by side', exact: true })
  await open.focus()
  await press(ana, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Side by side' })
  const rows = dialog.locator('tbody tr')
  await dialog.waitFor()
  same('paragraphs beside each other', await rows.locator('td').allInnerTexts(), [
    'The keeper of the lamp wrote a rather long letter to his only sister almost every night.',
    'The keeper of the lighthouse lamp wrote a letter to his only sister in town almost every night.',
    'He recieved few visitors there.',
    'He received few visitors there.',
    'Nobody came by sea.',
    'Nobody came by sea.',
  ])
  same('what goes and what comes', await rows.locator('del, ins').allTextContents(), [
    'rather long ',
    'lighthouse ',
    'in town ',
    'recieved',
    'received',
  ])
  await accessible(ana, 'the comparison')
  await ana.screenshot('review-10-compare')
  await press(ana, 'Escape')
  await dialog.waitFor({ state: 'detached' })
  holds('the focus is back', await open.evaluate((at) => at === document.activeElement))

  await page.getByRole('button', { name: 'Compare the paragraph of change 1 side by side' }).click()
  await page.getByRole('dialog', { name: 'The paragraph, side by side' }).waitFor()
  same('one paragraph', await page.locator('.compare tbody tr').count(), 1)
  await press(ana, 'Escape')

  await phone.page.goto(page.url())
  await waits(phone, 'the changes on the phone', 2)
  await phone.page.locator('.review-bar .count').click()
  await phone.page.getByRole('button', { name: 'Compare side by side', exact: true }).tap()
  await phone.page.locator('.compare-body').waitFor()
  const [original, proposed] = await phone.page.evaluate(() =>
    [...document.querySelectorAll('.compare .is-changed td')].map((cell) => {
      const { top, width } = cell.getBoundingClientRect()
      return { top, width }
    }),
  )
  holds('below each other on a phone', original.top < proposed.top && original.width > 250)
  await accessible(phone, 'the comparison on a phone')
  await phone.screenshot('review-10-compare-phone')
  await phone.page.getByRole('button', { name: 'Close', exact: true }).tap()
  await phone.page.getByRole('button', { name: 'Close suggestions' }).tap()

  await page.getByRole('button', { name: 'Split change 1 of 2 into 3 changes' }).click()
  await waits(ana, 'three places and the correction', 4)
  await eventually(
    'it is said, with the first place',
    () => announced(ana),
    (words) => words === 'Split into 3 changes. Change 1 of 4. Insert: lighthouse .',
  )
  await waits(phone, 'the places on the phone', 4)
  same('nothing is said to be decided', await phone.page.locator('.review-note').count(), 0)
  await accessible(ana, 'a change that was split')
  await ana.screenshot('review-11-split')
  await ana.choose(1)
  await ana.bar('Reject')
  await waits(ana, 'one place is rejected', 3)
  await ana.bar('Accept')
  await waits(ana, 'the next one is accepted', 2)
  const text = await ana.text()
  holds(`only the accepted place is in: ${text}`, text.includes('lamp wrote a letter to his only'))
  // What is in one place only stays whole.
  await inText(ana)
  await press(ana, 'F8')
  await press(ana, 'Escape')
  await press(ana, 's')
  await eventually(
    'why it stays whole',
    () => toasts(ana),
    (said) => said.includes('Nothing to split.'),
  )
  same('what waits', (await ana.changes()).length, 2)
}
