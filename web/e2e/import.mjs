// A Word file that Bo has reviewed is imported: its tracked changes wait, its comment is a thread,
// and both are under his name. Files of every kind come in, and what is pasted
// without a connection is there as plain words.
import { begin, reads, same, story } from './support.mjs'
import { wordDocument } from './zip.mjs'

const run = (words) => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`
const DATE = '2026-01-02T03:04:05Z'
const by = `w:author="Bo" w:date="${DATE}"`
const REVIEWED = wordDocument(
  `<w:p>${run('It was ')}<w:del w:id="1" ${by}><w:r><w:delText>cold</w:delText></w:r></w:del>` +
    `<w:ins w:id="2" ${by}>${run('warm')}</w:ins>${run(', and late.')}</w:p>` +
    `<w:p><w:commentRangeStart w:id="0"/>${run('The end')}<w:commentRangeEnd w:id="0"/>` +
    `<w:ins w:id="3" ${by}>${run(' of it')}</w:ins>${run('.')}</w:p>`,
  `<w:comment w:id="0" ${by}><w:p>${run('Which end?')}</w:p></w:comment>`,
)

await story(async (keep) => {
  const { ana } = await begin(keep)
  const { page } = ana
  const chooser = page.getByLabel('Files to import')
  const take = (name, buffer) =>
    chooser.setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
  await take('reviewed.docx', REVIEWED)
  await page.locator('.cm-content').waitFor()
  await page
    .locator('.toast')
    .getByText(/tracked changes? by Bo to review/)
    .waitFor()
  await page.getByRole('heading', { name: 'Bo in Word' }).waitFor()
  await ana.screenshot('import-1-tracked-changes')
  await page.locator('.panel-tab', { hasText: 'Comments' }).click()
  const thread = page.getByRole('article').filter({ hasText: 'Which end?' })
  await thread.getByText('Bo in Word').waitFor()
  same('the time in the file', await thread.locator('time').getAttribute('datetime'), DATE)
  same('who may edit it', await thread.getByRole('button', { name: 'Edit' }).count(), 0)
  await ana.screenshot('import-2-comment')
  await page.locator('.panel-tab', { hasText: 'Suggestions' }).click()
  await page
    .getByRole('button', { name: /^Accept/ })
    .first()
    .click()
  await page.getByRole('link', { name: 'All documents' }).click()
  await take('notes.md', Buffer.from('\ufeff# Öl\n\n* oil\n', 'utf16le'))
  await page.locator('.cm-content').waitFor()
  await reads(ana, 'a text in UTF-16', '# Öl\n\n* oil\n')
  await page.getByRole('link', { name: 'All documents' }).click()
  await take('russian.txt', Buffer.from([0xcc, 0xe0, 0xff, 0xea, 0x20, 0xe3, 0xee, 0xf0]))
  await page.getByText(/^russian\.txt wasn’t imported: the encoding/).waitFor()
  same('errors in the pages', ana.errors, [])
})
