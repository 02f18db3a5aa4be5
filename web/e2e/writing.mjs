// Asking and answering, and the page around the text: who we are, what waits, and a new document
// with a conversation of its own.
import {
  PHONE,
  TOKEN,
  Server,
  Writer,
  accessible,
  eventually,
  holds,
  same,
  startBrowser,
  story,
} from './support.mjs'

await story(async (keep) => {
  const server = keep(await Server.start(process.env.COPYDESK_DATA, process.env.COPYDESK_MODEL))
  const browser = keep(await startBrowser())
  const ana = await named(browser, server)
  await byHeading(ana)
  await imported(ana)
  await fresh(ana)
  await asksAtOnce(ana)
  await answered(ana)
  await failing(ana)
  await atTheCursor(ana)
  await waiting(ana)
  await leftUnheard(ana)
  await small(browser, server)
  same('errors in the pages', ana.errors, [])
})

/** The owner is asked for a name before others come, and has it everywhere. */
async function named(browser, server) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const ana = new Writer(await context.newPage(), 'Ana')
  ana.page.on('pageerror', (error) => ana.errors.push(error.stack))
  await ana.page.goto(`${server.url}/#token=${TOKEN}`)
  await ana.page.getByText('review every AI edit before it lands').waitFor()
  await ana.page.getByText('Sample — try Fix the grammar').waitFor()
  await accessible(ana, 'the list at first')
  await ana.screenshot('writing-0-list')
  // Once somebody else is let in.
  await ana.page.getByRole('button', { name: 'Share' }).click()
  await ana.page.getByRole('heading', { name: 'What is your name?' }).waitFor()
  await accessible(ana, 'the question for a name')
  await ana.screenshot('writing-1-name')
  await ana.page.getByRole('textbox', { name: 'Your name' }).fill('Ana')
  await ana.page.getByRole('button', { name: 'Save' }).click()
  await ana.page.getByRole('heading', { name: 'What is your name?' }).waitFor({ state: 'detached' })
  await ana.page.reload()
  await ana.page.getByRole('button', { name: 'You', exact: true }).click()
  await ana.page.getByRole('heading', { name: 'You are Ana' }).waitFor()
  await ana.page.getByText('You have full access and can invite or remove people.').waitFor()
  await accessible(ana, 'who I am')
  await ana.page.getByRole('button', { name: 'Close' }).click()
  return ana
}

/** A document without a title is called as the heading it begins with, once that is written. */
async function byHeading(ana) {
  const { page } = ana
  await page.getByRole('button', { name: 'New document' }).click()
  await page.locator('.cm-content:focus').waitFor()
  await accessible(ana, 'an empty document')
  await ana.screenshot('writing-1-empty')
  await page.keyboard.type('# The long night')
  const title = page.getByLabel('Title', { exact: true })
  same('while it is written', await title.inputValue(), 'Untitled')
  await page.keyboard.type('\nIt was cold.')
  await eventually(
    'its title',
    () => title.inputValue(),
    (now) => now === 'The long night',
  )
  // A title of its own stays.
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('# Another\n')
  await page.getByRole('link', { name: 'All documents' }).click()
  await page.getByRole('link', { name: /The long night/ }).waitFor()
}

/** Texts of one's own computer become documents; what is no text is refused in words. */
async function imported(ana) {
  const { page } = ana
  const chooser = page.getByLabel('Files to import')
  const file = (name, mimeType, buffer) => ({ name, mimeType, buffer: Buffer.from(buffer) })
  await chooser.setInputFiles(file('letter.txt', 'text/plain', 'PK\u0003\u0000'))
  await page.getByText(/^letter\.txt wasn’t imported: /).waitFor()
  await chooser.setInputFiles([
    file('one.md', 'text/markdown', '# The first\n\nIt was cold.'),
    file('two.txt', 'text/plain', 'It was warm.'),
  ])
  await page.getByText('2 documents imported.').waitFor()
  await page.getByRole('link', { name: /The first/ }).waitFor()
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['Dropped words.'], 'three.md', { type: 'text/markdown' }))
    return data
  })
  await page.locator('.library').dispatchEvent('drop', { dataTransfer: dropped })
  await page.locator('.cm-content').waitFor()
  same('the title', await page.getByLabel('Title', { exact: true }).inputValue(), 'three')
  same('the text', await ana.text(), 'Dropped words.')
  await page.getByRole('link', { name: 'All documents' }).click()
}

/** A new document is there to be written in. */
async function fresh(ana) {
  await ana.page.getByRole('button', { name: 'New document' }).click()
  await ana.page.locator('.cm-content:focus').waitFor()
  await ana.page.keyboard.type('It was cold.')
  await eventually(
    'what was typed at once',
    () => ana.text(),
    (text) => text === 'It was cold.',
  )
}

/** After Ctrl+K the very next key belongs to the question. */
async function asksAtOnce(ana) {
  const composer = ana.page.locator('#composer')
  const typed = await ana.page.evaluate(() => {
    const key = { key: 'k', ctrlKey: true, bubbles: true, cancelable: true }
    document.querySelector('.cm-content').dispatchEvent(new KeyboardEvent('keydown', key))
    return document.activeElement.id
  })
  same('where the next key goes', typed, 'composer')
  await ana.page.keyboard.type('explain it')
  same('the question', await composer.inputValue(), 'explain it')
  same('the text', await ana.text(), 'It was cold.')
  await ana.page.keyboard.press('Enter')
}

/** Answers are read as they are meant, and nothing in them acts. */
async function answered(ana) {
  const answer = ana.page.locator('.answer').first()
  await answer.locator('strong', { hasText: 'Three things' }).waitFor()
  same('its list', await answer.locator('li').count(), 2)
  same('pictures in it', await answer.locator('img').count(), 0)
  await accessible(ana, 'an answer')
  await ana.screenshot('writing-2-answer')
}

/** The server knows where the cursor stands without being told by hand. */
async function atTheCursor(ana) {
  await ana.caret('It was cold'.length)
  await ana.ask('add a word')
  await eventually(
    'one change',
    () => ana.changes(),
    (changes) => changes.length === 1,
  )
  await eventually(
    'the tab says so',
    () => ana.page.title(),
    (title) => title === '(1) Untitled · Copydesk',
  )
  same(
    'the icon',
    await ana.page.locator('link[rel=icon]').getAttribute('href'),
    '/favicon-waiting.svg',
  )
  same('no clock runs', await ana.page.locator('.countdown').count(), 0)
}

/**
 * What the provider could not do is asked once more; what is meant for the model is not told to
 * writers.
 */
async function failing(ana) {
  await ana.ask('quote it wrongly')
  await ana.page.getByText('The AI quoted words that are not in the text like that').waitFor()
  await ana.ask('fail')
  const again = ana.page.getByRole('button', { name: 'Try again' })
  await again.waitFor({ timeout: 60_000 })
  await accessible(ana, 'a failed question')
  await ana.screenshot('writing-3-failed')
  await again.click()
  await ana.page.locator('.answer', { hasText: 'It worked.' }).waitFor({ timeout: 60_000 })
}

/** The list says what waits; another document knows nothing of this one's conversation. */
async function waiting(ana) {
  await ana.page.getByRole('link', { name: 'All documents' }).click()
  await ana.page.locator('.waiting-count', { hasText: '1 to review' }).waitFor()
  same('the tab', await ana.page.title(), '(1) Copydesk')
  await accessible(ana, 'the list of documents')
  await ana.screenshot('writing-4-list')
  await ana.page.getByRole('button', { name: 'Delete Untitled' }).click()
  await ana.page.getByText('restore it for 30 days. 1 to review now.').waitFor()
  await ana.page.getByRole('button', { name: 'Keep it' }).click()
  await ana.page.getByRole('button', { name: 'New document' }).click()
  await ana.page.locator('.cm-content:focus').waitFor()
  await ana.page.getByText('Nothing to review.').waitFor()
  // What is on its way for the document before has arrived by the next answer of the server.
  await ana.ask('explain it')
  await ana.page.locator('.answer').first().waitFor()
  same('conversations', await ana.page.locator('article.card').count(), 1)
  holds('the new one’s title', (await ana.page.title()) === 'Untitled · Copydesk')
}

/** A document that was left and asks again shows nothing of its answer in another one. */
async function leftUnheard(ana) {
  const { page } = ana
  const held = []
  let holds = false
  await page.routeWebSocket(/socket\.io/, (client) => {
    client.connectToServer().onMessage((message) => {
      if (holds) held.push(() => client.send(message))
      else client.send(message)
    })
  })
  await page.reload()
  await page.locator('.cm-content').waitFor()
  await ana.caret(0)
  holds = true
  await page.keyboard.type('Nobody heard.')
  await eventually(
    'its answer',
    () => held.length,
    (count) => count > 0,
  )
  await page.getByRole('link', { name: 'All documents' }).click()
  holds = false
  held.forEach((tell) => tell())
  await page.getByRole('link', { name: /three/ }).click()
  await page.locator('.cm-content').waitFor()
  // An editor that heard no answer asks again after a second.
  await page.waitForTimeout(2_000)
  same('the tab', await page.title(), 'three · Copydesk')
  same('the text', await ana.text(), 'Dropped words.')
  await page.getByRole('link', { name: 'All documents' }).click()
  await page
    .getByRole('link', { name: /^Untitled/ })
    .first()
    .click()
  await page.locator('.cm-content').waitFor()
  same('what was written', await ana.text(), 'Nobody heard.')
}

/** On a phone everything is within reach, too. */
async function small(browser, server) {
  const phone = await Writer.open(browser, server, 'Ana', /Untitled/, PHONE)
  await phone.page.getByRole('button', { name: 'Menu' }).click()
  await phone.page.getByRole('menuitem', { name: 'Export' }).waitFor()
  await accessible(phone, 'the menu on a phone')
  await phone.screenshot('writing-5-phone-menu')
  await phone.page.keyboard.press('Escape')
  same('the menu', await phone.page.getByRole('menu').count(), 0)
  // It lies over the panel, too.
  await phone.page.getByRole('button', { name: 'Ask and review' }).click()
  await phone.menu('You')
  await phone.page.getByRole('dialog', { name: /^You are/ }).waitFor()
  await accessible(phone, 'who I am, on a phone')
  same('errors in the pages', phone.errors, [])
}
