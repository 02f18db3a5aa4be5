// Work in a folder: what the AI wants to write or run waits at the desk, for everybody who may
// decide it, and nothing happens before.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Server,
  Writer,
  accessible,
  eventually,
  holds,
  same,
  startBrowser,
  story,
} from './support.mjs'

const folder = join(process.env.COPYDESK_DATA, 'workspace')
const file = (name) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null
const NOTES = '# Notes\n\nThe keeper wrote every night.\n'

await story(async (keep) => {
  mkdirSync(folder)
  writeFileSync(join(folder, 'notes.md'), NOTES)
  const data = join(process.env.COPYDESK_DATA, 'data')
  const server = keep(
    await Server.start(data, process.env.COPYDESK_MODEL, ['--workspace', folder, '--enable-bash']),
  )
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  const { page } = ana
  const ask = async (words) => {
    await page.getByLabel('Ask for work in the workspace').fill(words)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
  }
  const card = (name) => page.getByRole('list', { name: 'Waiting' }).getByRole('listitem', { name })
  const settled = async () => page.getByText('Nothing waits for a decision.').waitFor()

  await page.getByRole('button', { name: 'Desk' }).click()
  await accessible(ana, 'an empty desk')
  await ask('Make a file')
  await card('Write docs/new.md').waitFor()
  await page.getByText('invisible characters').waitFor()
  await accessible(ana, 'a file to write')
  await queued(ana, ask)
  await ana.screenshot('inbox-1-write')
  holds(
    'what deceives the eye is made visible',
    (await card(/Write/).textContent()).includes('⟨U+202E⟩'),
  )

  // Bo sees how much waits, in the list and beside a document.
  const bo = await Writer.arrive(browser, server, 'Bo', { colorScheme: 'dark' })
  await bo.page.getByRole('button', { name: 'Desk: 1 request waiting' }).waitFor()
  await bo.documents.first().click()
  await bo.page.locator('.cm-content').waitFor()
  await bo.page.getByRole('button', { name: 'Desk: 1 request waiting' }).click()
  await accessible(bo, 'the desk in the dark')
  same('nothing is written before somebody says yes', file('docs/new.md'), null)

  // Edited before it runs; the words are Ana's.
  await card('Write docs/new.md').getByText('Edit…').click()
  await page.getByLabel('content').fill('# Mine\n')
  await page.getByRole('button', { name: 'Run as edited: Write docs/new.md' }).click()
  await settled()
  await eventually(
    'the file as edited',
    () => file('docs/new.md'),
    (text) => text === '# Mine\n',
  )
  await bo.page.getByText('Nothing waits for a decision.').waitFor()

  // A file that changed meanwhile is not overwritten unseen.
  await ask('Change two places')
  await card('Several edits notes.md').waitFor()
  writeFileSync(join(folder, 'notes.md'), `${NOTES}And somebody else was here.\n`)
  await page.getByRole('button', { name: 'Approve Several edits notes.md', exact: true }).click()
  await page.getByText('changed while you looked').waitFor()
  await eventually(
    'the fresh preview, everywhere',
    () => bo.page.locator('.inbox-diff').first().textContent(),
    (text) => text.includes('somebody else'),
  )
  await bo.page.getByRole('button', { name: 'Approve Several edits notes.md', exact: true }).click()
  await eventually(
    'both edits',
    () => file('notes.md'),
    (text) => text.includes('A keeper wrote each night.') && text.includes('somebody else'),
  )
  await settled()

  // Rejected with a reason, which stays to be read.
  await ask('Change one place')
  await card('Edit notes.md').waitFor()
  await page.getByRole('button', { name: 'Reject Edit notes.md' }).click()
  await page.locator('.reason .field').fill('Keep it.')
  await page.getByRole('button', { name: 'Reject Edit notes.md' }).click()
  await page.getByText('User rejected: Keep it.').waitFor()

  // A command asks twice, and shows all of itself.
  await ask('Run something')
  await card('command').waitFor()
  await accessible(ana, 'a command')
  await ana.screenshot('inbox-2-command')
  same(
    'the command',
    await page.getByLabel('Command', { exact: true }).first().textContent(),
    'echo done > made.txt; rm -rf docs',
  )
  await page
    .getByRole('button', { name: /^Run command: echo done > made.txt; rm -rf docs$/ })
    .click()
  same('one click is not enough', file('made.txt'), null)
  await page.getByRole('button', { name: /^Yes, run it/ }).click()
  await eventually(
    'what it made',
    () => file('made.txt'),
    (text) => text === 'done\n',
  )
  await settled()
  await ana.screenshot('inbox-3-settled')
  await planned(ana, ask, card, settled)
  await ruled(ana, ask, card, settled)
  same('no page failed', [...ana.errors, ...bo.errors], [])
})

/** The mode is chosen beside the question: nothing happens before the plan is approved. */
async function planned({ page }, ask, card, settled) {
  await page.getByLabel('Approvals').selectOption({ label: 'Plan' })
  await ask('Plan something')
  await card('Plan').getByText('Write a summary.').waitFor()
  await card('Plan').getByRole('button', { name: 'Approve Plan', exact: true }).click()
  await settled()
  await page.getByLabel('Approvals').selectOption({ label: 'Review' })
}

/**
 * An owner denies some files here: said what is wrong with a rule, and what it means; it holds
 * until it is revoked.
 */
async function ruled(ana, ask, card, settled) {
  const { page } = ana
  await page.locator('.inbox-rules summary').click()
  const form = page.getByRole('form', { name: 'New rule' })
  const add = () => form.getByRole('button', { name: 'Add rule' }).click()
  await form.getByLabel('What the rule does').selectOption('deny')
  await form.getByLabel(/^above/).fill('few')
  await add()
  await form.getByRole('alert').getByText('whole number').waitFor()
  await form.getByLabel(/^above/).fill('')
  await form.getByLabel(/^in files like/).fill('private/[')
  await add()
  await form.getByRole('alert').getByText('not a path pattern').waitFor()
  await accessible(ana, 'a rule that is none')
  await ana.screenshot('inbox-4-no-rule')
  await form.getByLabel(/^in files like/).fill('private/**')
  await form.getByText('Searches leave such files out.').waitFor()
  await add()
  const rules = page.getByRole('list', { name: 'Rules' })
  await rules.getByText('Denied: Every tool in files like private/**, of any size').waitFor()
  await accessible(ana, 'the rules at the desk')
  await ana.screenshot('inbox-5-rules')
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await form.scrollIntoViewIfNeeded()
  await accessible(ana, 'the rules at the desk on a phone')
  await ana.screenshot('inbox-6-phone-rules')
  await page.setViewportSize(size)
  await ask('Make a secret')
  await page.getByRole('button', { name: 'Ask', exact: true }).waitFor()
  await settled()
  same('what was denied', file('private/key.md'), null)
  await rules.getByRole('button', { name: /^Revoke/ }).click()
  await rules.waitFor({ state: 'detached' })
  await ask('Make a secret')
  await card('Write private/key.md').waitFor()
}

/** What is asked while something waits says where it is, and can be stopped there. */
async function queued({ page }, ask) {
  const asked = page.getByRole('list', { name: 'What you asked for' })
  await asked.getByText('Waiting for you: decide above.').waitFor()
  await ask('Something else')
  await asked.getByText('Queued: begins when “Make a file” is done.').waitFor()
  await page.getByRole('button', { name: 'Stop: Something else' }).click()
  await page.getByRole('button', { name: 'Stop: Something else' }).waitFor({ state: 'detached' })
  await asked.getByText('Waiting for you: decide above.').waitFor()
}
