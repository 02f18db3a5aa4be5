// A small team edits a text that came from Word: changes and comments of the file, a suggestion, an
// answer of the AI in a thread, a decision on a phone. What is still open goes to Word and comes
// back under the same names.
import { spawnSync } from 'node:child_process'
import { field } from './commentCards.mjs'
import { exportOf, idOf, textOf } from './rest.mjs'
import {
  PHONE,
  Writer,
  accessible,
  becomes,
  begin,
  eventually,
  holds,
  isWritten,
  press,
  same,
  saved,
  selects,
  story,
  typesAfter,
  waits,
} from './support.mjs'
import { wordDocument } from './zip.mjs'

const run = (words) => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`
const by = 'w:author="Bo" w:date="2026-01-02T03:04:05Z"'
const REVIEWED = wordDocument(
  `<w:p>${run('It was ')}<w:del w:id="1" ${by}><w:r><w:delText>cold</w:delText></w:r></w:del>` +
    `<w:ins w:id="2" ${by}>${run('warm')}</w:ins>${run(', and late.')}</w:p>` +
    `<w:p><w:commentRangeStart w:id="0"/>${run('The end')}<w:commentRangeEnd w:id="0"/>` +
    `<w:ins w:id="3" ${by}>${run(' of it')}</w:ins>${run('.')}</w:p><w:p>${run('Nobody came.')}</w:p>`,
  `<w:comment w:id="0" ${by}><w:p>${run('Which end?')}</w:p></w:comment>`,
)
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const thread = (writer, words) => writer.page.locator('.threads > li > article', { hasText: words })
const shows = (writer, page) => writer.page.locator('.panel-tab', { hasText: page }).first().click()

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await imports(ana, REVIEWED)
  const [id, address] = [idOf(ana.page.url()), ana.page.url()]
  const sue = await Writer.invited(browser, server, 'Sue', 'suggester', address)
  const cy = await Writer.invited(browser, server, 'Cy', 'reviewer', address, PHONE)

  await suggests(sue)
  await asks(ana, sue)
  await decides(server, cy, id)
  const file = await exported(server, id)
  await comesBack(ana, file)
  same('errors in the pages', [...ana.errors, ...sue.errors, ...cy.errors], [])
})

async function imports(writer, buffer) {
  const file = { name: 'reviewed.docx', mimeType: DOCX, buffer }
  await writer.page.getByLabel('Files to import').setInputFiles(file)
  await writer.page.locator('.cm-content').waitFor()
  await writer.page.getByRole('heading', { name: 'Bo in Word' }).waitFor()
}

/** Suggests a word, and comments on another. */
async function suggests(sue) {
  await typesAfter(sue, 'Nobody', ' else')
  await saved(sue, 'the suggestion has arrived')
  await selects(sue, 'late')
  await press(sue, 'Control+Alt+m')
  await field(sue, 'Comment').fill('How late?')
  await press(sue, 'Control+Enter')
  await thread(sue, 'How late?').waitFor()
}

/** The AI is asked in that thread. Its change hangs there. */
async function asks(ana, sue) {
  await ana.page.getByRole('heading', { name: 'Sue suggests' }).waitFor()
  await shows(ana, 'Comments')
  await thread(ana, 'How late?').click()
  await field(ana, 'Reply').pressSequentially('@a')
  await ana.page.getByRole('option', { name: 'AI' }).waitFor()
  await press(ana, 'Enter')
  await ana.page.keyboard.type('could this be clearer?')
  await press(ana, 'Control+Enter')
  const waiting = '1 change waits for a decision'
  await thread(ana, 'How late?').locator('.ai-state', { hasText: waiting }).waitFor()
  await thread(sue, 'How late?').locator('.ai-state', { hasText: waiting }).waitFor()
  await accessible(ana, 'a thread with a change of the AI')
  await ana.screenshot('editorial-1-asked')
  await sue.screenshot('editorial-2-suggester')
}

/** On a phone, the first change of the file is accepted. The others stay open. */
async function decides(server, cy, id) {
  await waits(cy, 'the changes of three', 4)
  await isWritten(cy)
  await cy.screenshot('editorial-3-phone')
  await cy.bar('Accept')
  await eventually(
    'the accepted word',
    () => textOf(server, id),
    (text) => text === 'It was warm, and late.\n\nThe end.\n\nNobody came.',
  )
  await waits(cy, 'the others', 3)
}

/** The Word file has all that is open. Pandoc reads it, where it is installed. */
async function exported(server, id) {
  const file = await exportOf(server, id, 'docx')
  const options = ['--from=docx', '--to=markdown', '--track-changes=all', '--wrap=none']
  const read = spawnSync('pandoc', options, { input: file, encoding: 'utf8' })
  if (read.error?.code === 'ENOENT') console.log('*** not read by pandoc: it is not installed')
  else
    for (const [author, words] of [
      ['Bo', 'Which end?'],
      ['Bo', 'of it'],
      ['Sue', 'else'],
      ['Sue', 'How late?'],
      ['AI for Owner', 'after dark'],
    ]) {
      const mark = new RegExp(`\\[${words.replace('?', '\\?')}\\]\\{[^}]*author="${author}`)
      holds(`“${words}” of ${author} is in the file:\n${read.stdout}`, mark.test(read.stdout))
    }
  return file
}

/** Imported again, it is the same review, under the same names. */
async function comesBack(ana, file) {
  await ana.page.getByRole('link', { name: 'All documents' }).click()
  await imports(ana, file)
  await waits(ana, 'the same changes', 3)
  await becomes(
    'under the same names',
    async () => (await ana.page.locator('article.card h3').allTextContents()).toSorted(),
    ['AI for Owner (as Ana) in Word', 'Bo in Word', 'Sue in Word'],
  )
  await ana.screenshot('editorial-4-again')
  await shows(ana, 'Comments')
  await thread(ana, 'How late?').getByText('Sue in Word').waitFor()
  await thread(ana, 'Which end?').getByText('Bo in Word').waitFor()
}
