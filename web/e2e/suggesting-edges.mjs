// Suggesting where things go wrong: others write in the same words, passages are frozen, a tab
// crashes, a second tab suggests as well, and the right to suggest is lost.
import { startIdentityProvider } from './identityProvider.mjs'
import { editText, idOf, textOf } from './rest.mjs'
import {
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  press,
  putsBack,
  reads,
  same,
  saved,
  selects,
  story,
  toldBy,
  typesAfter,
  written,
} from './support.mjs'

const TEXT = `The lamp was burning all night.

Nobody had noticed it at first.

The boat came home in the morning.`

await story(async (keep) => {
  const provider = keep(await startIdentityProvider('editor=group:writers'))
  Object.assign(process.env, provider.environment)
  const { server, browser, ana } = await begin(keep)
  await written(ana, TEXT, 'A note')
  const address = ana.page.url()
  const id = idOf(address)
  const sue = await Writer.invited(browser, server, 'Sue', 'suggester', address)
  await suggests(sue)
  const all = { server, browser, ana, sue, id, address, provider }
  await conflicts(all)
  await freezes(all)
  await twoTabs(all)
  await crashes(all)
  await losesTheRight(all)
  same('errors in the pages', [...ana.errors, ...sue.errors], [])
})

/** Waits until what is typed will be suggested. */
function suggests(writer) {
  return writer.page.locator('.cm-content:not([aria-readonly])').waitFor()
}

/** Others change the words that are to go: they decide in view of all three texts. */
async function conflicts({ server, ana, sue, id }) {
  await selects(sue, 'all night')
  await sue.page.keyboard.type('until dawn')
  await saved(sue)
  await editText(server, id, (text) => text.replace('all night', 'all through the night'))
  await eventually(
    'it is in conflict at Ana’s',
    () => ana.page.locator('.is-conflict').count(),
    (count) => count > 0,
  )
  await eventually(
    'Sue has the words of the text, and her own beside them',
    () => sue.text(),
    (text) => text.includes('all through the night'),
  )
  await sue.screenshot('suggesting-edges-1')
  await accessible(ana, 'a suggestion in conflict')
  await typesAfter(sue, 'Nobody had', ' ever')
  await saved(sue)
  holds('the change in conflict stays', (await ana.page.locator('.is-conflict').count()) > 0)
  await editText(server, id, (text) => text.replace('all through the night', 'all night'))
  await eventually(
    'her words are back with those of the text',
    () => sue.text(),
    (text) => text.includes('until dawn'),
  )
}

/** Frozen words can't be touched; what was typed in them before they were is kept. */
async function freezes({ server, ana, sue, id }) {
  await sue.page.context().setOffline(true)
  await typesAfter(sue, 'The boat came', ' back')
  await typesAfter(sue, 'had ever noticed it', ' then')
  await selects(ana, 'The boat came home')
  await press(ana, 'Control+Shift+l')
  await toldBy(ana, 'Frozen. The AI can’t change these words.')
  await sue.page.context().setOffline(false)
  await toldBy(sue, 'Some of these words are frozen. What you typed there is kept for you.')
  await saved(sue)
  const text = await sue.text()
  holds('the other words stay', text.includes('noticed it then'))
  holds('those in frozen words are out', text.includes('The boat came home'))
  await sue.page.getByRole('button', { name: 'Show my words' }).click()
  await sue.page.locator('.recovered-text', { hasText: 'back' }).waitFor()
  await accessible(sue, 'words that were not suggested')
  await sue.page.getByRole('button', { name: 'Discard' }).click()
  await press(sue, 'Escape')
  await typesAfter(sue, 'The boat', 's')
  await toldBy(sue, 'These words are frozen: nobody can suggest to change them.')
  same('nothing is typed in them', await sue.text(), text)
  same('the text', await textOf(server, id), await ana.text())
}

/** Both tabs of one person show the same, whichever is typed in. */
async function twoTabs({ sue }) {
  const other = new Writer(await sue.page.context().newPage(), 'Sue')
  await other.page.goto(sue.page.url())
  await other.page.locator('.cm-content').waitFor()
  await suggests(other)
  await reads(other, 'the second tab shows the suggestion', await sue.text())
  await typesAfter(other, 'noticed it then', ' or later')
  await typesAfter(sue, 'in the', ' early')
  await saved(other)
  await saved(sue)
  await eventually(
    'both have both',
    async () => [await sue.text(), await other.text()],
    ([left, right]) => left === right && left.includes('then or later') && left.includes('early'),
  )
  await other.page.close()
}

/** The tab crashes while the server is away; what was typed goes back to its place. */
async function crashes({ server, sue }) {
  const url = sue.page.url()
  const context = sue.page.context()
  await server.kill()
  await sue.page.locator('.netbar').waitFor({ timeout: 60_000 })
  await typesAfter(sue, 'at first', ', she said')
  await sue.page.waitForTimeout(2_500)
  const gone = sue.page.waitForEvent('crash')
  const session = await context.newCDPSession(sue.page)
  session.send('Page.crash').catch(() => undefined)
  await gone
  await sue.page.close()
  await server.start()
  sue.page = await context.newPage()
  await sue.page.goto(url)
  await sue.page.locator('.cm-content').waitFor()
  await suggests(sue)
  await sue.page.getByRole('button', { name: 'Show my words' }).click()
  await putsBack(sue)
  holds('back in its place', (await sue.text()).includes('at first, she said.'))
}

/** A person who may only read from now on is offered a copy of what they had suggested. */
async function losesTheRight({ server, browser, ana, id, address, provider }) {
  await ana.page.getByRole('button', { name: 'Share' }).click()
  const shared = ana.page.getByRole('region', { name: 'Shared with people who sign in' })
  await shared.getByLabel('Mail address').fill('gus@press.example')
  await shared.getByLabel('Role in this document').selectOption('suggester')
  await press(ana, 'Enter')
  await shared.getByText('Has not signed in yet').waitFor()
  provider.saysItIs('Gus', ['press'])
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const gus = new Writer(await context.newPage(), 'Gus')
  await gus.page.goto(address)
  await gus.page.getByRole('link', { name: 'Sign in' }).click()
  await gus.page.locator('.cm-content').waitFor()
  await suggests(gus)
  await typesAfter(gus, 'in the', ' misty')
  await saved(gus)
  await shared.getByLabel('Role of gus@press.example').selectOption('viewer')
  await gus.page.locator('.saved', { hasText: 'Read only' }).waitFor()
  await reads(gus, 'only the text', await textOf(server, id))
  await gus.page.getByRole('button', { name: 'Show my words' }).click()
  await gus.page.locator('.recovered-text', { hasText: 'misty' }).waitFor()
  await accessible(gus, 'a copy of what was suggested')
  await gus.screenshot('suggesting-edges-2')
}
