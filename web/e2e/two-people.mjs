// A document in which two people decide: each sees who approved a change and who is still needed,
// and takes back what is theirs.
import {
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  listen,
  saidTo,
  same,
  story,
  toldBy,
  waits,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was burning all night.\n\nNobody had ever noticed it.\n\nThe boat had come home.'
const AFTER = 'The lamp burned all night.\n\nNobody ever saw it.\n\nThe boat came home.'
const MORE = 'You approved it. One more approval needed.'

const badges = (writer) => writer.page.locator('.proposal > .meta .badge').allTextContents()
const counts = (writer, words) =>
  eventually(
    `the badge “${words}”`,
    () => badges(writer),
    (all) => all.includes(words),
  )
/** What the row of a change says about who approved it. */
const rowSays = (writer, number, words) =>
  eventually(
    `row ${number} says “${words}”`,
    () =>
      writer.page
        .locator('.hunk-row')
        .nth(number - 1)
        .locator('.badge, .card-note')
        .allTextContents(),
    (all) => all.some((said) => said.includes(words)),
  )
const nothingSaid = (writer, number) =>
  eventually(
    `row ${number} says that nobody approved it`,
    () =>
      writer.page
        .locator('.hunk-row')
        .nth(number - 1)
        .textContent(),
    (all) => !all.includes('Approved by'),
  )
const title = (writer, start) =>
  eventually(
    `a title that begins with ${start}`,
    () => writer.page.title(),
    (now) => now.startsWith(start),
  )

const icon = (writer) => writer.page.locator('link[rel=icon]').getAttribute('href')

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'A note for two')
  const bo = await Writer.invited(browser, server, 'Bo', 'editor', ana.page.url(), {
    colorScheme: 'dark',
  })
  await ana.page.getByRole('button', { name: 'Review settings' }).click()
  await ana.page.getByRole('radio', { name: /^Two people/ }).check()
  await ana.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await ana.ask('Tighten it')
  await waits(ana, 'three changes', 3)
  await waits(bo, 'three changes at Bo’s', 3)
  await listen(ana)

  await votes(ana, bo)
  await takesBack(ana, bo)
  await several(ana, bo)
  await counted(browser, server, ana)
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/**
 * One approves one of three: both windows say whose approval there is, and the badge does not say
 * that there is none.
 */
async function votes(ana, bo) {
  await counts(ana, '0 of 2 approvals')
  await ana.choose(1)
  await ana.bar('Accept')
  await toldBy(ana, MORE)
  await rowSays(ana, 1, 'Approved by you')
  await rowSays(bo, 1, 'Approved by Owner')
  await counts(ana, '1 of 3 has one')
  await counts(bo, '1 of 3 has one')
  await bo.choose(1)
  await rowSays(bo, 1, 'one more person needed')
  await title(ana, '(2 of 3)')
  await title(bo, '(3)')
  await accessible(ana, 'a change of two people')
  await accessible(bo, 'a change of two people in the dark')
  await ana.screenshot('two-people-1')
  await bo.screenshot('two-people-1-other')
  same('nothing is in the text', await bo.text(), NOTE)
}

/** Ctrl+Z takes the approval back, wherever the keyboard is; what both have approved is decided. */
async function takesBack(ana, bo) {
  const { page } = ana
  await page.keyboard.press('Control+z')
  await nothingSaid(ana, 1)
  await nothingSaid(bo, 1)
  await counts(bo, '0 of 2 approvals')

  // An earlier decision is not touched by it.
  await ana.choose(1)
  await ana.bar('Accept')
  await rowSays(bo, 1, 'Approved by Owner')
  await bo.choose(1)
  await bo.bar('Accept')
  await waits(ana, 'the first is decided', 2)
  holds('its words are in', (await bo.text()).startsWith('The lamp burned'))
  await ana.choose(1)
  await ana.bar('Accept')
  await rowSays(ana, 1, 'Approved by you')
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await nothingSaid(bo, 1)
  holds('the first stays decided', (await bo.text()).startsWith('The lamp burned'))
}

/** All at once: votes have a toast and an announcement, and are taken back together. */
async function several(ana, bo) {
  await ana.acceptAll()
  const said = 'You approved 2 changes. One more approval needed.'
  await toldBy(ana, said)
  await eventually(
    'it is announced',
    () => saidTo(ana),
    (all) => all.some((words) => words.includes(said)),
  )
  await counts(ana, '1 of 2 approvals')
  await rowSays(bo, 2, 'Approved by Owner')
  await ana.page.keyboard.press('Control+z')
  await nothingSaid(bo, 1)
  await nothingSaid(bo, 2)
  await ana.acceptAll()
  await rowSays(bo, 2, 'Approved by Owner')
  await bo.acceptAll()
  await waits(ana, 'all is decided', 0)
  same('the text', await ana.text(), AFTER)
}

/** The list says how much waits, and for whom. */
async function counted(browser, server, ana) {
  await ana.page.locator('.cm-content').click()
  await ana.page.keyboard.press('Control+a')
  await ana.page.keyboard.insertText(NOTE)
  await ana.ask('Tighten it')
  await waits(ana, 'three changes again', 3)
  await ana.choose(1)
  await ana.bar('Accept')
  await rowSays(ana, 1, 'Approved by you')
  const viewer = await Writer.invited(browser, server, 'Vi', 'viewer', ana.page.url())
  await title(viewer, '(0 of 3)')
  await viewer.page.getByRole('link', { name: 'All documents' }).click()
  await viewer.page.getByText('3 for others to review').waitFor()
  await title(viewer, '(0 of 3)')
  same('its icon', await icon(viewer), '/favicon-others.svg')
  await ana.page.getByRole('link', { name: 'All documents' }).click()
  await ana.page.getByText('2 of 3 to review').waitFor()
  await title(ana, '(2 of 3)')
  same('her icon', await icon(ana), '/favicon-waiting.svg')
  await accessible(ana, 'the list with what waits')
  await ana.screenshot('two-people-2-list')
}
