// In the distribution's Firefox: the printed link is opened, a passage commented on, a grammar fix
// asked for, a change accepted, and another one suggested.
import { Firefox } from './firefox.mjs'
import { idOf, textOf } from './rest.mjs'
import { Server, eventually, holds, same, story } from './support.mjs'

const text = (page) =>
  page.evaluate(() => document.querySelector('.cm-content').cmTile.view.state.doc.toString())
const changes = (page) => page.texts('.hunk-row .hunk-open .words')

await story(async (keep) => {
  const { COPYDESK_DATA: data, COPYDESK_MODEL: model } = process.env
  const server = keep(await Server.start(data, model))
  const firefox = keep(await Firefox.start())
  const page = await firefox.open(server.link)
  await page.click('a[href*="/d/"]', 'Keeper')
  await eventually(
    'the text',
    () => page.texts('.cm-content'),
    ([shown]) => shown?.length > 100,
  )
  const before = await text(page)
  await commented(page)
  await accepted(page, before)
  await page.accessible('a change that was accepted, in Firefox')
  await page.screenshot('firefox-2-accepted')
  await suggested(server, page)
  same('errors in the page', firefox.errors, [])
})

/** Selects some words, and says something about them by keyboard alone. */
async function commented(page) {
  await page.click('.cm-line')
  const quote = await page.evaluate(() => {
    const { view } = document.querySelector('.cm-content').cmTile
    const words = view.state.doc.toString()
    // The longest line is a paragraph, without signs that are not shown.
    const line = words.split('\n').toSorted((a, b) => b.length - a.length)[0]
    const anchor = words.indexOf(line)
    const head = words.indexOf(' ', anchor + 12)
    view.dispatch({ selection: { anchor, head } })
    return words.slice(anchor, head)
  })
  await page.press('Control+Alt+m')
  await eventually(
    'a field for the comment',
    () => page.evaluate(() => document.activeElement.matches('textarea')),
    (isField) => isField,
  )
  await page.type('Who says so?')
  await page.press('Control+Enter')
  await eventually(
    'the comment',
    () => page.texts('.threads .comment-text'),
    (all) => all.join() === 'Who says so?',
  )
  await eventually(
    'its words are marked',
    () => page.texts('.cm-comment'),
    (all) => all.join('') === quote,
  )
  await page.screenshot('firefox-1-comment')
}

async function accepted(page, before) {
  // What is selected would be all that is asked about.
  await page.click('.cm-line')
  await page.click('.panel-tab', 'Suggestions')
  await page.click('#composer')
  await page.type('Fix the grammar')
  await page.press('Enter')
  const proposed = await eventually(
    'the changes',
    () => changes(page),
    (all) => all.length >= 10,
    60_000,
  )
  same('nothing is in the text yet', await text(page), before)
  await page.press('F8')
  // A press right after a change became the active one only shows it.
  await page.waitForTimeout(600)
  await page.press('Control+Enter')
  await eventually(
    'one change less',
    () => changes(page),
    (all) => all.length === proposed.length - 1,
  )
  holds('it is in the text', (await text(page)) !== before)
}

/** What is typed while suggesting is held beside the text, and drawn like any other change. */
async function suggested(server, page) {
  const choose = (mode) =>
    page.evaluate((value) => {
      const select = document.querySelector('select[aria-label="Mode"]')
      select.value = value
      select.dispatchEvent(new Event('change', { bubbles: true }))
    }, mode)
  const id = idOf(await page.evaluate(() => location.href))
  const before = await textOf(server, id)
  await choose('suggesting')
  await eventually(
    'suggesting',
    () => page.texts('.cm-content:not([aria-readonly])'),
    (all) => all.length === 1,
  )
  await page.evaluate(() => {
    const { view } = document.querySelector('.cm-content').cmTile
    view.focus()
    view.dispatch({ selection: { anchor: view.state.doc.length } })
  })
  await page.type('Indeed.')
  await eventually(
    'it is suggested',
    () => page.texts('ins.is-own'),
    (all) => all.join('').includes('Indeed.'),
  )
  await eventually(
    'it has arrived',
    () => page.texts('.saved'),
    (all) => all.join('') === 'Saved',
  )
  await page.accessible('suggesting, in Firefox')
  await page.screenshot('firefox-3-suggesting')
  same('the text of the server', await textOf(server, id), before)
  await choose('editing')
  await eventually(
    'it is drawn as others see it',
    () => page.texts('.cm-new'),
    (all) => all.join('').includes('Indeed.'),
  )
  same('the text that is shown', await text(page), before)
}
