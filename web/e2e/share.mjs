// An owner lets people in by links: a reviewer decides and cannot type; an editor loses access
// while offline and keeps their words.
import { spawnSync } from 'node:child_process'
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  same,
  story,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was burning all through the night. Nobody saw it, or said that they did. In the morning the boat had come back.'
const DARK = { colorScheme: 'dark' }

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'A note about a lamp')
  const address = new URL(ana.page.url()).pathname

  await ana.page.getByRole('button', { name: 'Share' }).click()
  await ana.page.getByLabel('Name').fill('Bo')
  await ana.page.getByLabel('Role').selectOption('reviewer')
  await accessible(ana, 'the Share dialog')
  await ana.screenshot('share-1-dialog')
  const link = await makeLink(ana)
  holds(`the link leads to the document: ${link}`, new URL(link).pathname === address)
  await accessible(ana, 'a new link')
  await ana.screenshot('share-2-link')
  await ana.page.keyboard.press('Escape')

  // A reviewer arrives by the link, and has nothing to type into or to share.
  const bo = await follow(browser, link, 'Bo', DARK)
  same('the texts', await bo.text(), NOTE)
  same('what Bo may do', await bo.page.locator('.saved').textContent(), 'Read only')
  holds('the address tells nothing', !bo.page.url().includes('token'))
  same('Bo can share', await bo.page.getByRole('button', { name: 'Share' }).count(), 0)
  await bo.page.locator('.cm-content').click()
  await bo.page.keyboard.type('Not mine to write. ')
  same('Bo’s text', await bo.text(), NOTE)

  // But he decides.
  await ana.ask('Tighten this, please')
  await eventually(
    'changes',
    () => bo.changes(),
    (changes) => changes.length >= 3,
  )
  await accessible(bo, 'reviewing as a reviewer')
  await bo.choose(1)
  await bo.bar('Accept')
  await eventually(
    'what Bo accepted',
    () => ana.text(),
    (text) => text !== NOTE,
  )

  // A new tab of his browser knows him.
  const tab = await bo.page.context().newPage()
  await tab.goto(server.url + address)
  await tab.locator('.cm-content').waitFor()
  await new Writer(tab, 'Bo').menu('You')
  await tab.getByRole('heading', { name: 'You are Bo' }).waitFor()
  await accessible(new Writer(tab, 'Bo'), 'who I am')

  // Revoked, with a confirmation: every tab of his says so.
  await ana.page.getByRole('button', { name: 'Share' }).click()
  await ana.page.getByRole('button', { name: 'Revoke the access of Bo' }).click()
  await accessible(ana, 'the confirmation')
  await ana.screenshot('share-3-revoke')
  await ana.page.getByRole('button', { name: 'Revoke access' }).click()
  for (const page of [bo.page, tab])
    await page.getByRole('heading', { name: 'Your access was taken back' }).waitFor()
  same('Bo still has the text', await bo.page.locator('.cm-content').count(), 0)
  await accessible(bo, 'the end of an access')
  await bo.screenshot('share-4-revoked')
  await bo.page.reload()
  await bo.page.getByRole('heading', { name: 'Open the link you were given' }).waitFor()
  await eventually(
    'Bo in the list',
    () => ana.page.locator('.access li').allTextContents(),
    (lines) => lines.length > 0 && !lines.some((line) => line.startsWith('Bo')),
  )

  // An editor writes while the server is away; when it is back, her link is not good any more.
  await ana.page
    .getByRole('button', { name: 'Create another link' })
    .or(ana.page.getByLabel('Name'))
    .first()
    .waitFor()
  await ana.page.getByLabel('Name').fill('Cy')
  const cy = await follow(browser, await makeLink(ana), 'Cy', PHONE)
  await ana.page.keyboard.press('Escape')
  await server.kill()
  await cy.page.locator('.netbar').waitFor()
  await cy.caret(0)
  await cy.page.keyboard.type('Written at sea. ')
  revokeOffline(server, 'Cy')
  await server.start()
  await cy.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
  await cy.page.getByText('this token was revoked').waitFor()
  await cy.page.getByText('Written at sea.').waitFor()
  await accessible(cy, 'unsent words after a revocation')
  await cy.screenshot('share-5-kept-words')
  await cy.page.getByRole('button', { name: 'Copy my words' }).click()
  await cy.page.getByText('Copied.').waitFor()
  await cy.page.getByRole('button', { name: 'Discard' }).click()
  same('words that are left', await cy.page.getByText('Written at sea.').count(), 0)
  holds(
    'nothing of it arrived',
    !(
      await eventually(
        'Ana again',
        () => ana.text(),
        (text) => text.length > 0,
      )
    ).includes('at sea'),
  )

  // A link opened beside one's own is for its tab; who the browser is stays.
  const second = await ana.page.context().newPage()
  await second.goto(`${server.url}${address}#token=cdk_not-a-token`)
  await second.getByRole('heading', { name: 'This link does not work' }).waitFor()
  await second.getByRole('button', { name: 'Continue without this link' }).click()
  await second.locator('.cm-content').waitFor()

  // Signed out in one tab is signed out in all.
  await new Writer(second, 'Ana').menu('You')
  await second.getByRole('button', { name: 'Sign out' }).click()
  await second.getByRole('heading', { name: 'You are signed out' }).waitFor()
  await second.goto(server.url)
  await second.getByRole('heading', { name: 'Open the link you were given' }).waitFor()

  const small = await Writer.open(browser, server, 'Ana', /A note about a lamp/, {
    ...PHONE,
    ...DARK,
  })
  await small.page.getByRole('button', { name: 'Share' }).click()
  await accessible(small, 'sharing on a phone')
  await small.screenshot('share-6-phone')
  same('errors in the pages', [...ana.errors, ...bo.errors, ...cy.errors, ...small.errors], [])
})

/** Makes the link that the form describes, and reads it. */
async function makeLink(writer) {
  await writer.page.getByRole('button', { name: 'Create link' }).click()
  const link = await writer.page.getByLabel(/^Link for/).inputValue()
  holds(`a link: ${link}`, /^http.*#token=/.test(link))
  return link
}

/** Somebody with a browser of their own follows a link. */
async function follow(browser, link, name, options) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  const writer = new Writer(await context.newPage(), name)
  writer.page.on('pageerror', (error) => writer.errors.push(error.stack))
  await writer.page.goto(link)
  await writer.page.locator('.cm-content').waitFor()
  return writer
}

/** As `copydesk token` does it in the data directory. */
function revokeOffline(server, name) {
  const copydesk = (...args) =>
    spawnSync(process.env.COPYDESK_BIN, ['token', ...args, '--data', server.data], {
      encoding: 'utf8',
    })
  const line = copydesk('--list')
    .stdout.split('\n')
    .find((line) => line.endsWith(name))
  const { status, stderr } = copydesk('--revoke', line.split(' ')[0])
  same(`revoking: ${stderr}`, status, 0)
}
