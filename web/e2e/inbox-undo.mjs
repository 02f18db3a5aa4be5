// The ways back at the desk: an approved file is put back byte for byte, never over somebody else's
// words unseen, and what was refused comes back from the bin as a request of its own, also in a
// browser that was not there.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  PHONE,
  Server,
  Writer,
  accessible,
  eventually,
  same,
  startBrowser,
  story,
} from './support.mjs'

const folder = join(process.env.COPYDESK_DATA, 'workspace')
const file = (name) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'latin1') : null
// Line ends of two systems and no newline at the end: what a careless undo would tidy up.
const NOTES = 'One.\r\nTwo.\nThree.'
const CHANGED = 'One.\r\nTwice.\nThree.'

const EDIT = 'Edit notes.txt'
const WRITE = 'Write new/one.md'
const reads = (what, name, wanted) =>
  eventually(
    what,
    () => file(name),
    (now) => now === wanted,
  )
const button = ({ page }, name) => page.getByRole('button', { name, exact: true })
const card = ({ page }, list, name) =>
  page.getByRole('list', { name: list }).getByRole('listitem', { name })

async function ask(writer, words) {
  await writer.page.getByLabel('Ask for work in the workspace').fill(words)
  await button(writer, 'Ask').click()
}

await story(async (keep) => {
  mkdirSync(folder)
  writeFileSync(join(folder, 'notes.txt'), NOTES, 'latin1')
  const server = keep(
    await Server.start(join(process.env.COPYDESK_DATA, 'data'), process.env.COPYDESK_MODEL, [
      '--workspace',
      folder,
    ]),
  )
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  const bo = await Writer.arrive(browser, server, 'Bo', { colorScheme: 'dark' })
  for (const { page } of [ana, bo]) await page.getByRole('button', { name: /^Desk/ }).click()

  await putBack(ana, bo)
  await neverUnseen(ana, bo)
  await fromTheBin(ana, bo, server)
  same('no page failed', [...ana.errors, ...bo.errors], [])
})

/**
 * Ana approves, Bo takes it back, Ana has it proposed again: one request after the other, each
 * naming the one before.
 */
async function putBack(ana, bo) {
  await ask(ana, 'Change the notes')
  await button(ana, `Approve ${EDIT}`).click()
  await reads('the change', 'notes.txt', CHANGED)
  await button(bo, `Undo ${EDIT}`).click()
  await reads('every byte as it was', 'notes.txt', NOTES)
  await card(ana, 'Earlier', EDIT)
    .getByText(/^Undone by /)
    .waitFor()
  await accessible(ana, 'what was undone')
  await ana.screenshot('inbox-undo-1-undone')
  await button(ana, `Bring back: ${EDIT}`).click()
  await card(bo, 'Waiting', EDIT)
    .getByText(/^Again: undone by .+ before/)
    .waitFor()
  same('nothing is written by asking again', file('notes.txt'), NOTES)
  await button(bo, `Approve ${EDIT}`).click()
  await reads('the change once more', 'notes.txt', CHANGED)
  await card(ana, 'Earlier', EDIT).getByText('Proposed again').waitFor()
}

/**
 * Another program has written since: what that was is shown first, and stays until somebody
 * insists.
 */
async function neverUnseen(ana, bo) {
  const since = `${CHANGED} Four.`
  writeFileSync(join(folder, 'notes.txt'), since, 'latin1')
  await button(bo, `Undo ${EDIT}`).first().click()
  await bo.page.getByText('notes.txt was changed since. Put the old content back anyway?').waitFor()
  await bo.page.getByLabel('What was changed since').getByText('Four.').first().waitFor()
  await accessible(bo, 'an undo over other words, in the dark')
  await bo.screenshot('inbox-undo-2-anyway-dark')
  await button(bo, 'Cancel').click()
  same('the other words', file('notes.txt'), since)
  await button(bo, `Undo ${EDIT}`).first().click()
  await button(bo, `Undo anyway: ${EDIT}`).click()
  await reads('the old content', 'notes.txt', NOTES)
  await card(ana, 'Earlier', EDIT)
    .getByText(/^Undone by .+, over what was changed since$/)
    .waitFor()
}

/**
 * Rejected by Ana; found in the bin by who comes later, proposed again, written, and taken away
 * again.
 */
async function fromTheBin(ana, bo, server) {
  await ask(ana, 'Make a file')
  await button(ana, `Reject ${WRITE}`).click()
  await ana.page.getByLabel('Reason in your own words').fill('Not yet.')
  await button(ana, `Reject ${WRITE}`).click()
  await card(ana, 'Earlier', WRITE).getByText('User rejected: Not yet.').waitFor()
  await server.kill()
  await server.start()
  const context = bo.page.context().browser()
  const cy = await Writer.arrive(context, server, 'Cy', PHONE)
  await accessible(cy, 'the documents on a phone')
  await cy.screenshot('inbox-undo-3-documents-phone')
  await cy.page.getByRole('button', { name: /^Desk/ }).click()
  const earlier = cy.page.getByRole('list', { name: 'Earlier' })
  await button(cy, 'Rejected').click()
  await eventually(
    'the bin shows what was rejected',
    () =>
      earlier
        .getByRole('listitem')
        .evaluateAll((cards) => cards.map((it) => it.getAttribute('aria-label'))),
    (names) => names.join() === WRITE,
  )
  await accessible(cy, 'the bin of the desk on a phone')
  await cy.screenshot('inbox-undo-4-bin-phone')
  await button(cy, `Bring back: ${WRITE}`).click()
  await card(bo, 'Waiting', WRITE)
    .getByText(/^Again: rejected by .+ before/)
    .waitFor()
  await button(bo, `Approve ${WRITE}`).click()
  await reads('the file', 'new/one.md', 'One.\n')
  await button(cy, 'All').click()
  await button(cy, `Undo ${WRITE}`).click()
  await reads('no file', 'new/one.md', null)
  same('errors at Cy’s', cy.errors, [])
}
