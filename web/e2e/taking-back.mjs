// Everything is taken back by Ctrl+Z wherever the keyboard is, and a press too many writes nothing.
import {
  begin,
  eventually,
  holds,
  inText,
  listen,
  press,
  reads,
  saidTo,
  same,
  story,
  toldBy,
  waits,
  written,
} from './support.mjs'

const LETTER =
  'The keeper of the lamp wrote a rather long letter to his only sister almost every night.\n\nHe recieved few visitors there.\n\nNobody came by sea.'
const PLACES = 3

await story(async (keep) => {
  const { ana } = await begin(keep, {})
  await written(ana, LETTER, 'A letter')
  await listen(ana)

  await surplus(ana, 'before there are changes')
  await ana.ask('Tighten it')
  await waits(ana, 'a rewrite and a correction', 2)
  await fromAnywhere(ana)
  await splits(ana)
  await surplus(ana, 'after the last change')
  await lookAtIt(ana)
  await corrections(ana)
  same('errors in the pages', ana.errors, [])
})

/** Pressed where nothing waits, the keys of the review write nothing. */
async function surplus(ana, when) {
  await inText(ana)
  const text = await ana.text()
  for (const keys of ['Control+Enter', 'Control+Shift+Enter', 'Alt+Enter']) {
    await press(ana, keys)
    same(`the text ${when}, after ${keys}`, await ana.text(), text)
  }
  holds('it is said', (await saidTo(ana)).includes('Nothing to review.'))
}

/**
 * With the mouse alone until Ctrl+Z: it is pressed on a button of the bar, in the panel, on a row,
 * on nothing.
 */
async function fromAnywhere(ana) {
  const { page } = ana
  const places = {
    'the bar': () => page.locator('.review-bar').getByRole('button', { name: 'Next change' }),
    'a row': () => page.locator('.hunk-row .hunk-open').first(),
    'the panel': () => page.getByRole('button', { name: 'Compare side by side', exact: true }),
  }
  for (const [place, button] of Object.entries(places)) {
    await ana.choose(1)
    await ana.bar('Accept')
    await waits(ana, 'one change is left', 1)
    await button().focus()
    await press(ana, 'Control+z')
    await waits(ana, `taken back from ${place}`, 2)
    await reads(ana, `the text after Ctrl+Z on ${place}`, LETTER)
  }
  await ana.choose(1)
  await ana.bar('Accept')
  await waits(ana, 'one change is left once more', 1)
  await press(ana, 'Control+z')
  await waits(ana, 'taken back right after the mouse', 2)
  await ana.choose(1)
  await ana.bar('Reject')
  await waits(ana, 'one change is left after a reject', 1)
  await press(ana, 'Control+z')
  await waits(ana, 'the reject is taken back', 2)

  // What was typed last comes first, also from a button; a field of text keeps its own undo.
  await ana.choose(2)
  await ana.bar('Accept')
  await waits(ana, 'one change is left to type beside', 1)
  await ana.caret(0)
  await page.keyboard.type('Once. ')
  await page.locator('.hunk-row .hunk-open').first().focus()
  await press(ana, 'Control+z')
  await reads(ana, 'the words are gone first', LETTER.replace('recieved', 'received'))
  await page.locator('#composer').focus()
  await page.keyboard.insertText('never mind')
  await press(ana, 'Control+z')
  await waits(ana, 'the decision stands while a field is written in', 1)
  same('the field', await page.locator('#composer').inputValue(), '')
  await page.locator('.hunk-row .hunk-open').first().focus()
  await press(ana, 'Control+z')
  await waits(ana, 'then the decision', 2)
  await reads(ana, 'the text is as it was', LETTER)
}

/** A split is taken back, by key and by its toast, and not once a part is decided. */
async function splits(ana) {
  const { page } = ana
  const split = page.getByRole('button', { name: `Split change 1 of 2 into ${PLACES} changes` })
  await ana.choose(1)
  await split.click()
  await waits(ana, 'the places', PLACES + 1)
  await toldBy(ana, `Split into ${PLACES} changes.`)
  await press(ana, 'Control+z')
  await waits(ana, 'whole again', 2)
  await eventually(
    'it is said',
    () => saidTo(ana),
    (said) => said.some((words) => words.startsWith('Undone. Change 1 of 2.')),
  )
  await split.click()
  await waits(ana, 'the places again', PLACES + 1)
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await waits(ana, 'whole again by the toast', 2)

  await split.click()
  await waits(ana, 'the places once more', PLACES + 1)
  await ana.choose(1)
  await ana.bar('Accept')
  await waits(ana, 'a place is decided', PLACES)
  await press(ana, 'Control+z')
  await waits(ana, 'that place again', PLACES + 1)
  await press(ana, 'Control+z')
  await waits(ana, 'whole, in order', 2)
  await ana.acceptAll()
  await waits(ana, 'nothing is left', 0)
  holds('all of it is in', (await ana.text()).includes('The keeper of the lighthouse lamp'))
}

/** A conflict that is out of sight is shown in the text and on its card. */
async function lookAtIt(ana) {
  const { page } = ana
  await inText(ana)
  await press(ana, 'Control+a')
  await page.keyboard.insertText(`${LETTER}\n\n${'Nothing else happened.\n\n'.repeat(60)}`)
  await ana.ask('Tighten it')
  const changes = await eventually(
    'changes',
    () => ana.changes(),
    (all) => all.length >= 2,
  )
  await ana.caret(LETTER.indexOf('rather') + 3)
  await page.keyboard.type('X')
  await eventually(
    'the conflict',
    () => ana.conflicts(),
    (count) => count === 1,
  )
  await ana.choose(1)
  await page.setViewportSize({ width: 1150, height: 720 })
  await page.locator('.page-scroll').evaluate((it) => it.scrollTo(0, it.scrollHeight))
  await page.locator('.panel-body').evaluate((it) => it.scrollTo(0, 0))
  await page
    .locator('.review-bar')
    .getByRole('button', { name: /^Look at it/ })
    .click()
  await eventually(
    'the conflict and its four ways are in view',
    () => page.evaluate(inSight),
    ({ text, card }) => text && card,
  )
  await page.getByText('The text now', { exact: true }).waitFor()
  await ana.screenshot('taking-back-conflict')
  holds('nothing is decided', (await ana.changes()).length === changes.length)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: /^Reject all/ }).click()
  await page.locator('.reason button[type=submit]').click()
  await waits(ana, 'the conflict is over', 0)
}

/** In the page: whether the conflict and the buttons of its card can be seen whole. */
function inSight() {
  const whole = (element, top, bottom) => {
    const at = element?.getBoundingClientRect()
    return !!at && at.top >= top - 1 && at.bottom <= bottom + 1
  }
  const page = document.querySelector('.page-scroll').getBoundingClientRect()
  const bar = document.querySelector('[data-review-bar]').getBoundingClientRect()
  const body = document.querySelector('.panel-body').getBoundingClientRect()
  const foot = document.querySelector('.proposal-foot').getBoundingClientRect()
  return {
    text: whole(document.querySelector('.cm-gone.is-conflict'), page.top, bar.top),
    card: whole(
      document.querySelector('.hunk-row.is-active .hunk-actions'),
      body.top,
      Math.min(body.bottom, foot.top),
    ),
  }
}

/** Where all changes are corrections, one button is for all; they are listed before. */
async function corrections(ana) {
  const { page } = ana
  await inText(ana)
  await press(ana, 'Control+a')
  await page.keyboard.insertText('Teh lamp burned.\n\nHe recieved few visitors there.')
  await ana.ask('Put it right')
  await waits(ana, 'two corrections', 2)
  const corrections = page.getByRole('button', { name: /corrections…$/ })
  same('no second button for the same changes', await corrections.count(), 0)
  await page.getByRole('button', { name: 'Accept all 2…' }).click()
  const all = page.getByRole('dialog', { name: 'All changes: 2' })
  await all.locator('li').nth(1).waitFor()
  same('listed, too', await all.locator('li').count(), 2)
  await ana.screenshot('taking-back-corrections')
  await waits(ana, 'nothing is decided yet', 2)
  await all.getByRole('button', { name: 'Accept 2 changes' }).click()
  await waits(ana, 'both are decided', 0)
  await reads(ana, 'the text', 'The lamp burned.\n\nHe received few visitors there.')
}
