// Changes that are put off for later, the orders of the list, and the way to what is unread.
import {
  PHONE,
  Server,
  Writer,
  accessible,
  announced,
  becomes,
  eventually,
  inText,
  listen,
  press,
  same,
  scripted,
  startBrowser,
  story,
  toldBy,
  waits,
  written,
} from './support.mjs'

const NOTE = `Teh keeper wrote in his ledger every night of the year.

The lamp was burning brightly until the early morning came.

He recieved few visitors on the island.

Nobody had ever noticed the boat that lay in the harbour.
`
const AFTER = `The keeper wrote in his ledger every night of the year.

The lamp burned brightly until early in the morning.

He received few visitors on the island.

Nobody ever saw the boat in the harbour.
`

const rows = (writer) =>
  writer.page
    .locator('.hunk-row')
    .evaluateAll((all) => all.map((row) => row.querySelector('[data-number]').textContent))
const active = (writer) =>
  writer.page.locator('.hunk-row.is-active [data-number]').first().textContent()
const later = (writer) =>
  writer.page
    .locator('.hunk-row', { has: writer.page.getByText('Later', { exact: true }) })
    .locator('.badge')
    .allTextContents()
const order = (writer) =>
  writer.page.getByRole('combobox', { name: 'Order of the list', exact: true })
const unread = (writer) => writer.page.getByRole('button', { name: /^Next unread change/ })
const lists = (writer, what, wanted) =>
  eventually(
    what,
    () => rows(writer),
    (now) => now.join('') === wanted,
  )
const isAt = (writer, what, number) =>
  eventually(
    what,
    () => active(writer),
    (now) => now === number,
  )

await story(async (keep) => {
  const model = scripted([{ user: '(?i)tighten', text: AFTER }])
  const server = keep(await Server.start(process.env.COPYDESK_DATA, model))
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  await written(ana, NOTE, 'A note for later')
  const address = ana.page.url()
  const bo = await Writer.invited(browser, server, 'Bo', 'reviewer', address, {
    colorScheme: 'dark',
  })
  await listen(ana)
  await ana.ask('Tighten it')
  await waits(ana, 'four changes', 4)
  await waits(bo, 'four changes for Bo', 4)

  await putOff(ana, bo)
  await onThePhone(browser, server)
  await readsAll(bo)
  await orders(ana)
  await takesBack(ana)
  for (const writer of [ana, bo]) same(`errors of ${writer.name}`, writer.errors, [])
})

/** By keyboard alone, for nobody else. */
async function putOff(ana, bo) {
  await ana.caret(0)
  await press(ana, 'F8')
  await isAt(ana, 'the first change', '1')
  await press(ana, 'Escape')
  await press(ana, 'd')
  await lists(ana, 'it goes to the end', '2341')
  await becomes('one row says so', () => later(ana), ['Later'])
  await eventually(
    'that is said, and the next one is',
    () => announced(ana),
    (said) => said.startsWith('Put off for later. Change '),
  )
  await accessible(ana, 'a change for later')
  await ana.screenshot('later-1-put-off')
  const seen = []
  for (let step = 0; step < 3; step++) {
    seen.push(await active(ana))
    await press(ana, 'F8')
    await eventually(
      'another change',
      () => active(ana),
      (now) => now !== seen.at(-1),
    )
  }
  await becomes('F8 comes to it last', () => active(ana), '1')
  same('Bo has the list as it was', await rows(bo), ['1', '2', '3', '4'])
  same('and no mark', await later(bo), [])
}

/** The same person, elsewhere. */
async function onThePhone(browser, server) {
  const phone = await Writer.open(browser, server, 'Ana', /A note for later/, {
    ...PHONE,
    colorScheme: 'dark',
  })
  await phone.page.getByRole('button', { name: /^Change \d of 4\. Show in the list/ }).click()
  await eventually(
    'it is for later there, too',
    () => later(phone),
    (badges) => badges.length === 1,
  )
  await accessible(phone, 'a change for later on a phone')
  await phone.screenshot('later-2-phone')
  await phone.page.context().close()
}

/** A change is read once its reader went to it. */
async function readsAll(bo) {
  const { page } = bo
  await unread(bo).getByText('4 unread').waitFor()
  await bo.choose(2)
  await unread(bo).getByText('3 unread').waitFor()
  await unread(bo).click()
  await isAt(bo, 'the next unread change', '3')
  await accessible(bo, 'unread changes in the dark')
  await bo.screenshot('later-3-unread-dark')
  await page.reload()
  await page.locator('.cm-content').waitFor()
  await waits(bo, 'four changes again', 4)
  await unread(bo).getByText('2 unread').waitFor()
  await inText(bo)
  await press(bo, 'Control+F8')
  await press(bo, 'Escape')
  await press(bo, 'n')
  await eventually(
    'none is unread',
    () => unread(bo).count(),
    (count) => count === 0,
  )
  await press(bo, 'n')
  await toldBy(bo, 'You have looked at every change.')
}

async function orders(ana) {
  await order(ana).selectOption('kind')
  await eventually(
    'corrections come first, and what is for later last',
    () => rows(ana),
    (kinds) => kinds[0] === '3' && kinds.at(-1) === '1',
  )
  await accessible(ana, 'changes by kind')
  await ana.screenshot('later-4-kinds')
  await order(ana).selectOption('person')
  await lists(ana, 'one person asked for all', '2341')
  await order(ana).selectOption('place')
}

/** The same key, and the button of the change. */
async function takesBack(ana) {
  const button = ana.page.getByRole('button', { name: 'Put change 1 of 4 off for later' })
  await ana.choose(4)
  await becomes('its button is pressed', () => button.getAttribute('aria-pressed'), 'true')
  await accessible(ana, 'a pressed button')
  await ana.screenshot('later-5-pressed')
  await button.click()
  await lists(ana, 'it is back', '1234')
  await becomes('no row says so', () => later(ana), [])
  await button.click()
  await lists(ana, 'it goes once more', '2341')
  await ana.choose(4)
  await ana.bar('Accept')
  await waits(ana, 'it is decided', 3)
  await becomes('nothing is for later', () => later(ana), [])
  await ana.page.keyboard.press('Control+z')
  await waits(ana, 'it is open again', 4)
  await lists(ana, 'and in its place', '1234')
}
