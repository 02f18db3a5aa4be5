// An owner shares a document with somebody who signs in, and with a group: they come in for that
// document alone, with the role they have at the time, and are out once it is taken from them.
import { startIdentityProvider } from './identityProvider.mjs'
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  press,
  same,
  story,
  written,
} from './support.mjs'

const NOTE = 'The lamp was burning all through the night.'

await story(async (keep) => {
  const provider = keep(await startIdentityProvider('editor=group:writers'))
  Object.assign(process.env, provider.environment)
  const { server, browser, ana } = await begin(keep)
  await written(ana, 'Nobody else reads this.', 'A secret')
  await ana.page.getByRole('link', { name: 'All documents' }).click()
  await written(ana, NOTE, 'A note about a lamp')
  const address = server.url + new URL(ana.page.url()).pathname

  // Gus is known to the provider, and to nobody here.
  provider.saysItIs('Gus', ['press'])
  const gus = await visitor(browser, address, 'Gus')
  await signIn(gus)
  await gus.page.getByText('You’re signed in but have no access here.').waitFor()

  // The owner shares the document with him, by keyboard alone.
  await ana.page.getByRole('button', { name: 'Share' }).click()
  const shared = ana.page.getByRole('region', { name: 'Shared with people who sign in' })
  await shared.getByLabel('Mail address').fill('gus')
  holds('nobody can be meant', await shared.getByRole('button', { name: 'Share' }).isDisabled())
  await shared.getByLabel('Mail address').fill('gus@press.example')
  await press(ana, 'Enter')
  await shared.getByText('Has not signed in yet').waitFor()
  await accessible(ana, 'sharing with a person')
  await ana.screenshot('sharing-1-person')

  // He comes in, finds this document only, and writes.
  await signIn(gus)
  await gus.documents.first().waitFor()
  same('the documents of Gus', await gus.documents.count(), 1)
  same('a guest creates', await gus.page.getByRole('button', { name: 'New document' }).count(), 0)
  await accessible(gus, 'the documents of a guest')
  await gus.screenshot('sharing-2-guest')
  await gus.documents.first().click()
  await gus.page.locator('.cm-content').waitFor()
  same('the text', await gus.text(), NOTE)
  await gus.caret(0)
  await gus.page.keyboard.type('At sea: ')
  await eventually(
    'what Gus wrote',
    () => ana.text(),
    (text) => text === `At sea: ${NOTE}`,
  )

  // Another role holds at once, in the page that is open.
  await shared.getByLabel('Role of gus@press.example').selectOption('viewer')
  await gus.page.locator('.saved', { hasText: 'Read only' }).waitFor()
  await shared.getByText('gus@press.example', { exact: true }).waitFor()
  await gus.page.locator('.cm-content').click()
  await gus.page.keyboard.type('Not mine to write. ')
  same('the text of a viewer', await gus.text(), `At sea: ${NOTE}`)

  // So does one of his group, which is more; it is named as the provider names it.
  await shared.getByLabel('Share with').selectOption('group')
  await shared.getByLabel('Name of the group').fill('press')
  await shared.getByLabel('Role in this document').selectOption('editor')
  await shared.getByRole('button', { name: 'Share', exact: true }).click()
  await shared.getByText('Group', { exact: true }).nth(1).waitFor()
  await gus.page.locator('.saved', { hasText: 'Saved' }).waitFor()
  await accessible(ana, 'sharing with a group')
  await ana.screenshot('sharing-3-group')

  // Taken back, with a confirmation each.
  for (const whom of ['press', 'Gus']) {
    await shared.getByRole('button', { name: `Remove ${whom}` }).click()
    await accessible(ana, 'the confirmation')
    await shared.getByRole('button', { name: 'Stop sharing', exact: true }).click()
  }
  await gus.page.getByRole('heading', { name: 'We can’t open this document' }).waitFor()
  await gus.page.getByText('this document is not shared with you').waitFor()
  same('Gus still has the text', await gus.page.locator('.cm-content').count(), 0)
  await accessible(gus, 'a document that is no longer shared')
  await gus.screenshot('sharing-4-taken')

  // On a phone all of it is within reach.
  const small = await Writer.open(browser, server, 'Ana', /A note about a lamp/, PHONE)
  await small.page.getByRole('button', { name: 'Share' }).click()
  await small.page.getByLabel('Mail address').waitFor()
  await accessible(small, 'sharing on a phone')
  await small.screenshot('sharing-5-phone')
  same('errors in the pages', [...ana.errors, ...gus.errors, ...small.errors], [])
})

/** Somebody without a link, at an address. */
async function visitor(browser, address, name) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const writer = new Writer(page, name)
  page.on('pageerror', (error) => writer.errors.push(error.stack))
  await page.goto(address)
  return writer
}

async function signIn(writer) {
  await writer.page.getByRole('link', { name: 'Sign in' }).click()
}
