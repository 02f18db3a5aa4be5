// Changes of meaning: they are signed in the list, the bar, the text and to screen readers; the
// list shows them first; what keeps the meaning is accepted at once; more people decide about them;
// a rule leaves them out; and who accepts them very fast is asked to look again.
import {
  PHONE,
  Server,
  Writer,
  accessible,
  announced,
  eventually,
  holds,
  inText,
  listen,
  looks,
  misspelt,
  press,
  same,
  scripted,
  startBrowser,
  story,
  waits,
  written,
} from './support.mjs'

/** Each sentence as it is and as proposed, and why; three of them change the meaning. */
const FACTS = [
  ['The keeper counted 12 lamps in the tower.', '12', '21', 'The ledger says 21.'],
  ['He wrote teh list in the evening.', 'teh', 'the', 'A slip.'],
  ['The boat did not come back that night.', 'did not come', 'came', 'It is in the log.'],
  ['They met Anna Smith at the harbour.', 'Smith', 'Miller', 'She had married.'],
  ['He recieved letters from the coast.', 'recieved', 'received', 'A slip.'],
  ['Everybody wondered were the fog came from.', 'were', 'where', 'A slip.'],
]
const NOTE = FACTS.map(([sentence]) => sentence).join('\n\n')
const suggestion = ([sentence, was, now, reason]) => ({
  original: sentence,
  replacement: sentence.replace(was, now),
  reason,
})
const suggesting = (user, facts) => ({
  user,
  content: [
    {
      type: 'tool_use',
      name: 'suggest_improvements',
      input: { suggestions: facts.map(suggestion), explanation: 'Facts and slips.' },
    },
  ],
})

const slips = misspelt(12)
/** A word of each part, and the numbers of three. */
const COUNT = 15
const HURRIED = [1, 4, 7].reduce(
  (text, at) => text.replace(`In part ${at + 1} of`, `In part ${at + 51} of`),
  slips.right,
)

const button = (writer, name) => writer.page.getByRole('button', { name })
const signs = (writer) => writer.page.locator('.hunk-row .hunk-sign').allTextContents()
const shows = (writer) =>
  writer.page.getByRole('combobox', { name: 'Show in the list', exact: true })
const settings = async (writer) => {
  await button(writer, 'Review settings').click()
  return writer.page.getByRole('dialog', { name: 'Review settings' })
}
const closed = async (dialog) => {
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
}
/** Makes the change with these words the active one. */
const choose = (writer, words) =>
  writer.page.locator('.hunk-row', { hasText: words }).locator('.hunk-open').click()

await story(async (keep) => {
  const model = scripted([
    suggesting('(?i)facts', FACTS),
    suggesting('(?i)number', FACTS.slice(0, 1)),
    suggesting('(?i)slip', FACTS.slice(4, 5)),
    { user: '(?i)hurry', text: HURRIED },
  ])
  const server = keep(await Server.start(process.env.COPYDESK_DATA, model))
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  await written(ana, NOTE, 'A note with facts')
  const address = ana.page.url()
  const bo = await Writer.invited(browser, server, 'Bo', 'editor', address, {
    colorScheme: 'dark',
  })
  const phone = await Writer.open(browser, server, 'Cy', /A note with facts/, PHONE)
  await listen(ana)
  await ana.ask('Check the facts')
  await waits(ana, 'six changes', 6)

  await signed(ana, bo, phone)
  await takesNoRoom(ana)
  await arranged(ana)
  await compared(ana)
  await keepsTheMeaning(ana, bo)
  await moreDecide(ana, bo)
  await remembered(ana)
  await hurried(ana)
  same('errors in the pages', [...ana.errors, ...bo.errors, ...phone.errors], [])
})

/** In the list, the bar, the text and aloud, in light and dark and on a phone. */
async function signed(ana, bo, phone) {
  await eventually(
    'the signs of the list',
    async () => [...(await signs(bo))].join(),
    (all) => all.includes('“not”') && all.includes('name'),
  )
  await ana.caret(0)
  await press(ana, 'F8')
  await eventually(
    'what is said of the first change',
    () => announced(ana),
    (words) => words.includes('Changes a number: 12 to 21.'),
  )
  const row = ana.page.locator('.hunk-row.is-active')
  const marksIn = async (place) => (await place.locator('.meaning').innerText()).trim()
  same('the mark in the list', await marksIn(row), 'number: 12 → 21')
  same(
    'the reason in the list',
    await row.locator('.hunk-why').textContent(),
    'The ledger says 21.',
  )
  const bar = ana.page.locator('.bar-meaning')
  same('the mark in the bar', await marksIn(bar), 'number: 12 → 21')
  same('the reason in the bar', await bar.locator('.hunk-why').innerText(), 'The ledger says 21.')
  same('the signs in the text', await ana.page.locator('.cm-meaning').count(), 3)
  await accessible(ana, 'a change of meaning')
  await ana.screenshot('meaning-1-signed')
  await choose(bo, 'Smith')
  await bo.page.locator('.bar-meaning', { hasText: 'Smith → Miller' }).waitFor()
  await accessible(bo, 'a change of meaning in the dark')
  await bo.screenshot('meaning-1-signed-dark')
  await phone.page.locator('.bar-meaning').waitFor()
  await accessible(phone, 'a change of meaning on a phone')
  await phone.screenshot('meaning-1-signed-phone')
  await phone.page.locator('.review-bar .count').click()
  await phone.page.locator('.panel.is-open .hunk-row.is-active .meaning').waitFor()
  await accessible(phone, 'the list with changes of meaning on a phone')
  await phone.screenshot('meaning-1-list-phone')
  await button(phone, 'Close suggestions').click()
  await choose(ana, 'teh')
  same('nothing is signed there', await bar.locator('.badge').count(), 0)
  same('the reason alone', await bar.textContent(), 'A slip.')
}

/** The text stands where it would without the signs. */
async function takesNoRoom(ana) {
  const places = () =>
    ana.page.locator('.cm-line').evaluateAll((lines) =>
      lines.map((line) => {
        const range = document.createRange()
        range.selectNodeContents(line)
        const { top, bottom } = line.getBoundingClientRect()
        return [top, bottom, range.getBoundingClientRect().right].map(Math.round)
      }),
    )
  const before = await places()
  const style = await ana.page.addStyleTag({
    content: `.cm-meaning::after { display: none } :is(.cm-gone, .cm-new).is-marked { border: 0 }`,
  })
  same('the places of the lines', before, await places())
  await style.evaluate((added) => added.remove())
}

/** Keys go through what the list shows; once none is left, all are shown. */
async function arranged(ana) {
  const { page } = ana
  await shows(ana).focus()
  same('the choices', await shows(ana).locator('option').allTextContents(), [
    'All changes (6)',
    'Changes of meaning (3)',
    '“not” and “no” (1)',
    'numbers (1)',
    'names (1)',
  ])
  await shows(ana).selectOption({ label: 'Changes of meaning (3)' })
  await waits(ana, 'three are listed', 3)
  same(
    'the count is said',
    await page.locator('.list-choice [role=status]').textContent(),
    '3 of 6 changes shown',
  )
  await accessible(ana, 'a list of changes of meaning')
  await ana.screenshot('meaning-2-list')
  const numbers = () => page.locator('.hunk-row.is-active [data-number]').first().textContent()
  await inText(ana)
  await press(ana, 'Escape')
  const seen = []
  for (let step = 0; step < 3; step++) {
    seen.push(await numbers())
    await press(ana, 'j')
    await eventually('another change', numbers, (now) => now !== seen.at(-1))
  }
  same('keys go through them', seen.toSorted(), ['1', '3', '4'])
  await page
    .getByRole('combobox', { name: 'Order of the list', exact: true })
    .selectOption('weight')
  await eventually(
    'the weightiest first',
    () => ana.changes(),
    ([first]) => first.includes('did not come'),
  )
  await page.getByRole('combobox', { name: 'Order of the list', exact: true }).selectOption('place')
  await shows(ana).selectOption('all')
  await waits(ana, 'all are listed', 6)
}

async function compared(ana) {
  await ana.page.getByRole('button', { name: 'Compare side by side', exact: true }).click()
  const dialog = ana.page.getByRole('dialog', { name: 'Side by side' })
  await dialog.locator('.meaning', { hasText: 'number: 12 → 21' }).waitFor()
  same('marked paragraphs', await dialog.locator('.meaning').count(), 3)
  await accessible(ana, 'marks in the comparison')
  await ana.screenshot('meaning-3-compare')
  await closed(dialog)
}

/** The listed changes are accepted; those decided meanwhile are left out, with a word. */
async function keepsTheMeaning(ana, bo) {
  const { page } = ana
  await button(ana, 'Accept all that keep the meaning (3)…').click()
  const dialog = page.getByRole('dialog', { name: 'Changes that keep the meaning' })
  await dialog.locator('li').nth(2).waitFor()
  same('no mark is listed', await dialog.locator('.meaning').count(), 0)
  await accessible(ana, 'changes that keep the meaning')
  await ana.screenshot('meaning-4-keeps')
  await choose(bo, 'teh')
  await bo.bar('Reject')
  await dialog.getByText('1 is left out: it was changed or decided meanwhile.').waitFor()
  await ana.screenshot('meaning-4-left-out')
  await dialog.getByRole('button', { name: 'Accept 2 changes' }).click()
  await dialog.waitFor({ state: 'detached' })
  await waits(ana, 'the changes of meaning are left', 3)
  same('the slips are put right', /received[^]*wondered where/.test(await ana.text()), true)
  same('the facts are as they were', /12 lamps[^]*did not[^]*Smith/.test(await ana.text()), true)
  same('nothing to offer any more', await button(ana, /keep the meaning/).count(), 0)
}

/** Two people decide about numbers and names; the change says so, and why. */
async function moreDecide(ana, bo) {
  const dialog = await settings(ana)
  await dialog.getByLabel('numbers', { exact: true }).check()
  await dialog.getByLabel('names', { exact: true }).check()
  await dialog.getByLabel('Who decides', { exact: true }).selectOption('two')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Changes of numbers and names: two people').waitFor()
  await accessible(ana, 'policies about changes of meaning')
  await ana.screenshot('meaning-5-policies')
  await closed(dialog)
  await choose(ana, 'counted')
  const note = (writer) => writer.page.locator('.hunk-row.is-active .card-note')
  await note(ana).getByText('0 of 2 approvals, because it changes a number.').waitFor()
  await ana.bar('Accept')
  await choose(bo, 'counted')
  await note(bo).getByText('1 of 2 approvals, because it changes a number.').waitFor()
  await accessible(bo, 'a change that needs two people in the dark')
  await bo.screenshot('meaning-5-votes-dark')
  await bo.bar('Accept')
  await eventually(
    'the number',
    () => ana.text(),
    (text) => text.includes('21 lamps'),
  )
  // Not a number and not a name: one person is enough.
  await choose(ana, 'did not come')
  await ana.bar('Accept')
  await eventually(
    'the boat',
    () => ana.text(),
    (text) => text.includes('The boat came back'),
  )
  await waits(ana, 'the name is left', 1)
  const again = await settings(ana)
  await again.getByRole('button', { name: /^Remove: Changes of/ }).click()
  await closed(again)
  await choose(ana, 'Smith')
  await ana.bar('Accept')
  await waits(ana, 'nothing is left', 0)
}

/** A rule for changes that keep the meaning lets a slip in, and asks about a number. */
async function remembered(ana) {
  const { page } = ana
  await page.getByRole('link', { name: 'All documents' }).click()
  await written(ana, NOTE, 'Another note')
  await ana.ask('Put the slip right')
  await waits(ana, 'a slip', 1)
  await page.locator('.more-decisions summary').click()
  await button(ana, /Don’t ask again for small corrections/).click()
  const wish = page.getByRole('dialog')
  same('it leaves changes of meaning out', await wish.getByRole('checkbox').isChecked(), true)
  await wish
    .getByText(/characters changed, only changes that keep the meaning, whoever asks/)
    .waitFor()
  await accessible(ana, 'a rule for changes that keep the meaning')
  await ana.screenshot('meaning-6-rule')
  await wish.getByRole('button', { name: /and remember$/ }).click()
  await waits(ana, 'it is accepted', 0)
  await button(ana, 'Rules (1)').click()
  await page
    .getByRole('dialog')
    .getByText(/only changes that keep the meaning/)
    .waitFor()
  await closed(page.getByRole('dialog'))
  await ana.ask('Check the number')
  await waits(ana, 'a number is asked about', 1)
}

/** Ten accepts in ten seconds: a quiet remark, and the changes of meaning among them again. */
async function hurried(ana) {
  const { page } = ana
  const remark = page.locator('.streak')
  const accepts = async (count) => {
    await inText(ana)
    await press(ana, 'F8')
    await press(ana, 'Escape')
    for (let left = (await ana.changes()).length; count > 0; count--) {
      await eventually(
        'the next one is in view',
        () => looks(ana),
        ({ seen }) => seen,
      )
      await press(ana, 'a')
      await waits(ana, 'one less', --left)
    }
  }
  await page.getByRole('link', { name: 'All documents' }).click()
  await written(ana, slips.wrong, 'In a hurry')
  // A busy machine is slower than a person in a hurry: time passes slowly for this page.
  await page.evaluate(() => {
    const now = performance.now.bind(performance)
    performance.now = () => now() / 10
  })
  await ana.ask('Hurry')
  await waits(ana, 'fifteen changes', COUNT)
  await ana.caret(0)
  await accepts(10)
  await remark
    .getByText('You accepted ten changes in ten seconds; 3 of them change numbers.')
    .waitFor()
  await accessible(ana, 'the remark on a hurry')
  await ana.screenshot('meaning-7-remark')
  await remark.getByRole('button', { name: 'Look at these 3 again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Accepted changes of meaning' })
  await dialog.locator('.decided-row').nth(2).waitFor()
  same('those three', await dialog.locator('.decided-row').count(), 3)
  await accessible(ana, 'hurried changes again')
  await ana.screenshot('meaning-7-again')
  await dialog.getByRole('button', { name: 'Undo', exact: true }).first().click()
  await dialog.getByText('To be decided').waitFor()
  await closed(dialog)
  await waits(ana, 'one is open again', COUNT - 9)

  // Not remarked on any more, until the settings say so.
  await page.getByRole('link', { name: 'All documents' }).click()
  await written(ana, slips.wrong, 'In a hurry again')
  await ana.ask('Hurry')
  await waits(ana, 'fifteen changes again', COUNT)
  await ana.caret(0)
  await accepts(10)
  await remark.getByRole('button', { name: 'Do not remark this again' }).click()
  await remark.waitFor({ state: 'detached' })
  const off = await settings(ana)
  const box = off.getByLabel(/^Remark on fast accepting/)
  same('it is off', await box.isChecked(), false)
  await box.check()
  await closed(off)
  same('nothing lost', (await ana.changes()).length, COUNT - 10)
  holds('the text is right', (await ana.text()).includes('the keeper'))
}
