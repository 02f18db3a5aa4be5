// Getting text in: what is pasted from web pages, Word and Google Docs keeps its structure, Word
// documents are imported and dropped, and files that would burst are refused in words. And deleted
// documents come back.
import { TOKEN, accessible, begin, eventually, reads, same, saved, story } from './support.mjs'
import { zip } from './zip.mjs'

const PAGE = `<html><body><!--StartFragment--><h2>The keeper</h2>
  <p>He <strong>wrote</strong> every night, see <a href="https://a.example/ledger">the ledger</a>.</p>
  <ul><li>oil</li><li>wicks<ul><li>long</li></ul></li></ul>
  <table><tr><th>Night</th><th>Ships</th></tr><tr><td>one</td><td>two</td></tr></table>
  <script>globalThis.trapped = true</script><!--EndFragment--></body></html>`
const PAGE_AS_MARKDOWN = `## The keeper

He **wrote** every night, see [the ledger](https://a.example/ledger).

- oil
- wicks
  - long

| Night | Ships |
| --- | --- |
| one | two |`

const WORD = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body>
  <p class=MsoTitle>The Ledger</p><p class=MsoNormal><b>He</b>&nbsp;wrote.</p>
  <p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span style='mso-list:Ignore'>·<span>&nbsp;&nbsp;</span></span><![endif]>oil</p>
  <p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span style='mso-list:Ignore'>·<span>&nbsp;&nbsp;</span></span><![endif]>wicks</p></body></html>`

const WORD_AS_MARKDOWN = '# The Ledger\n\n**He** wrote.\n\n- oil\n- wicks'

const DOCS = `<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><h1><span style="font-weight:400">Title</span></h1>
  <p><span>The </span><span style="font-weight:700">lamp</span><span style="font-style:italic"> burned</span>.</p></b>`

const LETTER = `# The letter

It was **cold**, and *late*.

## What to bring

- oil
- wicks

| Night | Ships |
| --- | --- |
| one | two |

Run \`light_all\` [sic] for 5*4 lamps in snake_case:

\`\`\`
let lamps = 5

  light(lamps)
\`\`\`

---

The end.`

const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

await story(async (keep) => {
  const { server, ana } = await begin(keep)
  await pasted(ana)
  const word = await exported(server)
  await imported(ana, word)
  await dropped(ana, word)
  await refused(ana)
  await deleted(ana)
  same('errors in the pages', ana.errors, [])
})

function paste(ana, html, plain = 'plain words') {
  return ana.page.evaluate(
    ([html, plain]) => {
      const clipboardData = new DataTransfer()
      if (html) clipboardData.setData('text/html', html)
      clipboardData.setData('text/plain', plain)
      document
        .querySelector('.cm-content')
        .dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
        )
    },
    [html, plain],
  )
}

/** The same words, whatever they were copied from, with what structures them. */
async function pasted(ana) {
  const { page } = ana
  await page.getByRole('button', { name: 'New document' }).click()
  await page.locator('.cm-content:focus').waitFor()
  // Nothing is lost while what reads them is still on its way.
  await paste(ana, PAGE)
  await paste(ana, WORD)
  await reads(
    ana,
    'two texts, one right after the other',
    `${PAGE_AS_MARKDOWN}\n\n${WORD_AS_MARKDOWN}`,
  )
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await paste(ana, PAGE)
  await reads(ana, 'a page of the web', PAGE_AS_MARKDOWN)
  same('scripts of the page', await page.evaluate(() => globalThis.trapped), undefined)
  // All of it is one step.
  await page.keyboard.press('Control+z')
  await reads(ana, 'nothing', '')
  await paste(ana, WORD)
  await reads(ana, 'a text of Word', WORD_AS_MARKDOWN)
  await page.keyboard.press('Control+z')
  await page.keyboard.type('Before after')
  await ana.caret('Before'.length)
  await paste(ana, DOCS)
  await page.keyboard.type('!')
  await reads(
    ana,
    'a text of Google Docs, between other words',
    'Before\n\n# Title\n\nThe **lamp** *burned*.\n\n! after',
  )
  await page.keyboard.press('Control+a')
  // Colours of code are no structure, and plain words are as they are.
  await paste(ana, '<span style="color:red">let</span> <span>x</span>', 'let x')
  await reads(ana, 'code', 'let x')
  await page.keyboard.press('Control+a')
  await paste(ana, '', '# 1 * 2 * 3')
  await reads(ana, 'plain words', '# 1 * 2 * 3')
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await saved(ana)
  await page.getByRole('link', { name: 'All documents' }).click()
}

/** A Word document, as this server itself writes it. */
async function exported({ url }) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ title: 'Written elsewhere', text: LETTER })
  const made = await fetch(`${url}/api/v1/documents`, { method: 'POST', headers, body })
  const { id } = await made.json()
  const file = await fetch(`${url}/api/v1/documents/${id}/export?format=docx`, { headers })
  return Buffer.from(await file.arrayBuffer())
}

async function imported(ana, buffer) {
  const { page } = ana
  const chooser = page.getByLabel('Files to import')
  await chooser.setInputFiles({ name: 'letter.docx', mimeType: WORD_TYPE, buffer })
  await page.locator('.cm-content').waitFor()
  same('the title', await page.getByLabel('Title', { exact: true }).inputValue(), 'The letter')
  await reads(ana, 'the imported letter', LETTER)
}

/** Into an open document, where it is dropped. */
async function dropped(ana, bytes) {
  const { page } = ana
  await ana.page.keyboard.press('Control+a')
  await ana.caret(0)
  await page.evaluate(
    ([bytes, type]) => {
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(bytes)], 'again.DOCX', { type }))
      const at = document.querySelector('.cm-line').getBoundingClientRect()
      document.querySelector('.cm-content').dispatchEvent(
        new DragEvent('drop', {
          dataTransfer: data,
          clientX: at.left + 1,
          clientY: at.top + 5,
          bubbles: true,
          cancelable: true,
        }),
      )
    },
    [[...bytes], WORD_TYPE],
  )
  await reads(ana, 'the letter twice', `${LETTER}\n\n${LETTER}`)
  await page.getByRole('link', { name: 'All documents' }).click()
}

/** A ZIP file of one text that unpacks to 300 MB, and one that is none. */
async function refused(ana) {
  const { page } = ana
  const chooser = page.getByLabel('Files to import')
  const buffer = zip({ 'word/document.xml': Buffer.alloc(300_000_000, '<w:p/>') })
  if (buffer.length > 1_000_000) throw new Error('this is no bomb')
  await chooser.setInputFiles({ name: 'bomb.docx', mimeType: WORD_TYPE, buffer })
  await page.getByText(/^bomb\.docx wasn’t imported: /).waitFor()
  const broken = { name: 'broken.docx', mimeType: WORD_TYPE, buffer: Buffer.from('PK\u0003\u0004') }
  await chooser.setInputFiles(broken)
  await page.getByText(/^broken\.docx wasn’t imported: .*Word document/).waitFor()
}

/** What was deleted comes back, at once or later, until it is removed for good. */
async function deleted(ana) {
  const { page } = ana
  const line = page.getByRole('link', { name: /^The letter/ })
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete The letter' }).click()
    await page.getByText('An owner can restore it for 30 days.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await line.waitFor({ state: 'detached' })
  }
  await remove()
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await line.waitFor()
  await remove()
  await page.getByRole('button', { name: 'Deleted documents' }).click()
  await page.getByText(/^Deleted just now · kept until/).waitFor()
  await accessible(ana, 'deleted documents')
  await ana.screenshot('rich-text-1-deleted')
  await page.getByRole('button', { name: 'Restore The letter' }).click()
  await page.getByText('Nothing was deleted in that time.').waitFor()
  await page.getByRole('button', { name: 'Close' }).first().click()
  await line.click()
  await page.locator('.cm-content').waitFor()
  await reads(ana, 'the text that came back', `${LETTER}\n\n${LETTER}`)
  await page.getByRole('link', { name: 'All documents' }).click()
  await remove()
  await page.getByRole('button', { name: 'Deleted documents' }).click()
  await page.getByRole('button', { name: 'Delete forever The letter' }).click()
  await accessible(ana, 'the question before it is removed for good')
  await page.getByRole('button', { name: 'Delete forever', exact: true }).click()
  await page.getByText('Nothing was deleted in that time.').waitFor()
  await eventually(
    'nothing to bring back',
    () => page.getByRole('button', { name: /^Restore/ }).count(),
    (count) => count === 0,
  )
}
