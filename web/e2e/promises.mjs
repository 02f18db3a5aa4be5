// What a press, an edit and a colour promise: a double click decides once and says so, nothing lies
// over the change to decide, a kept edit is what the text shows, lines run in the direction of
// their words, and a person has one colour.
import {
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  misspelt,
  same,
  saved,
  story,
  toldBy,
  waits,
  written,
} from './support.mjs'

const COUNT = 24
const HEBREW = 'שלום לכולם.'

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep, {
    viewport: { width: 1150, height: 720 },
    colorScheme: 'light',
  })
  const { page } = ana
  const { wrong } = misspelt(COUNT)
  await written(ana, `${wrong}\n\n${HEBREW}`, 'A long account')
  const address = page.url()
  await ana.ask('Fix the grammar')
  await eventually(
    'the changes',
    () => ana.changes(),
    (changes) => changes.length === COUNT,
    60_000,
  )

  await doubleClick(ana)
  for (let left = COUNT - 1; left > 4; left--) {
    await page.locator('.review-bar .is-primary').click({ delay: 1 })
    await waits(ana, `${left} left`, left - 1)
    await clear(ana, left)
    await page.waitForTimeout(320)
  }
  await ana.screenshot('promises-1-bar')
  await accessible(ana, 'what is said above the bar')
  await keptEdit(ana)
  await directions(ana)
  await colours(ana, browser, server, address)
  await viewers(browser, server, address)
  same('errors', ana.errors, [])
})

/** The server answers the first press after the second: neither note hides the other. */
async function doubleClick(ana) {
  const { page } = ana
  let answers = null
  await page.routeWebSocket(/socket\.io/, (client) => {
    client.connectToServer().onMessage((message) => {
      if (answers) answers.push(() => client.send(message))
      else client.send(message)
    })
  })
  const release = () => {
    const held = answers ?? []
    answers = null
    held.forEach((send) => send())
  }
  await page.reload()
  await eventually(
    'the changes again',
    () => ana.changes(),
    (changes) => changes.length === COUNT,
  )
  await ana.choose(1)
  await page.waitForTimeout(500)
  answers = []
  await page.locator('.review-bar .is-primary').dblclick()
  await toldBy(ana, 'A double click decides once.')
  release()
  await toldBy(ana, 'Accepted.')
  await toldBy(ana, 'A double click decides once.')
  await waits(ana, 'one is decided', COUNT - 1)
  await ana.page.waitForTimeout(500)
  same('no other one', (await ana.changes()).length, COUNT - 1)
}

/** Whatever is said, the words to decide are above it. */
async function clear(ana, left) {
  const covered = () =>
    ana.page.evaluate(() => {
      const said = [...document.querySelectorAll('.toast, .review-note, .review-bar')]
      const marks = [...document.querySelectorAll(':is(.cm-gone, .cm-new).is-active')]
      const over = (a, b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
      const rects = (all) => all.flatMap((it) => [...it.getClientRects()])
      return {
        marks: marks.length,
        covered: rects(marks).some((mark) => rects(said).some((it) => over(mark, it))),
      }
    })
  await eventually(
    `the change to decide of ${left}`,
    covered,
    (now) => now.marks > 0 && !now.covered,
  )
}

async function keptEdit(ana) {
  const { page } = ana
  await ana.choose(1)
  await page.waitForTimeout(500)
  await page.keyboard.press('e')
  const field = page.locator('.hunk-edit textarea')
  if ((await field.count()) === 0) await ana.bar('Edit')
  const sentence = await field.inputValue()
  holds(`the whole sentence: ${sentence}`, /^In part .*\.$/.test(sentence))
  await field.fill(sentence.replace(/(the|received|separate)/, 'a wholly other'))
  await page.keyboard.press('Escape')
  await page.locator('.cm-new', { hasText: 'wholly other' }).waitFor()
  await ana.screenshot('promises-2-kept-edit')
  await page
    .getByRole('button', { name: /^Accept your edit/ })
    .first()
    .click()
  await eventually(
    'what was shown goes in',
    () => ana.text(),
    (text) => text.includes('a wholly other'),
  )
  same('nothing stale is said', await page.getByText('Edit saved').count(), 0)
}

async function directions(ana) {
  const line = ana.page.locator('.cm-line', { hasText: HEBREW })
  await line.scrollIntoViewIfNeeded()
  const direction = (it) => it.evaluate((element) => getComputedStyle(element).direction)
  same('Hebrew', await direction(line), 'rtl')
  same(
    'English',
    await direction(ana.page.locator('.cm-line', { hasText: 'In part' }).last()),
    'ltr',
  )
  await ana.screenshot('promises-3-directions')
}

async function colours(ana, browser, server, address) {
  const bo = await Writer.invited(browser, server, 'Bo', 'editor', address)
  await bo.caret(0)
  await bo.page.keyboard.type('Bo was here. ')
  await saved(bo)
  const look = () =>
    ana.page.evaluate(() => {
      const people = [...document.querySelectorAll('.person')].map((it) => [
        it.title,
        /peer-(\d)/.exec(it.className)[1],
      ])
      const authors = [...document.querySelectorAll('.authors li .cm-by')].map((it) => [
        it.textContent,
        /by-(\w+)/.exec(it.className)[1],
      ])
      return { people: Object.fromEntries(people), authors: Object.fromEntries(authors) }
    })
  await ana.menu('Who wrote this')
  const shown = await eventually('both', look, ({ people, authors }) => people.Bo && authors.Bo)
  same('Bo is one colour', String(Number(shown.authors.Bo) % 4), shown.people.Bo)
  await server.kill()
  await server.start()
  await ana.page.reload()
  const again = await eventually('both again', look, ({ people }) => people.Bo !== undefined)
  same('the colours after a restart', again.people, shown.people)
  await bo.page.context().close()
}

async function viewers(browser, server, address) {
  const cy = await Writer.invited(browser, server, 'Cy', 'viewer', address)
  await cy.page.locator('.cm-content').focus()
  await cy.page.keyboard.press('Control+Enter')
  await toldBy(cy, 'Viewers can’t accept or reject.')
  const dee = await Writer.invited(browser, server, 'Dee', 'reviewer', address)
  await dee.page.locator('.cm-content').focus()
  await dee.page.keyboard.type('h')
  await toldBy(dee, 'You can review this text, but not write in it. An owner can change that.')
  same('errors of readers', [...cy.errors, ...dee.errors], [])
}
