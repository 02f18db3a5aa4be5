// While a page is away, its server is restored from an older backup, and the text grows past the
// page's version. The page notices, loads the text anew, and offers back what was typed meanwhile.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Server,
  TOKEN,
  begin,
  eventually,
  putsBack,
  reads,
  same,
  saved,
  story,
  written,
} from './support.mjs'

const NOTE = 'The lamp burned all night.'
/** Typed after the backup, and in its place after the restore: as long, so that updates fit. */
const LOST = ' Nobody saw it.'
const INSTEAD = ' Ana turned it.'
const MORE = ' Then it rained.'
const RESTORED = NOTE + INSTEAD + MORE

await story(async (keep) => {
  const { server, ana } = await begin(keep)
  const { page } = ana
  await written(ana, NOTE, 'A note')
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const backup = join(mkdtempSync(join(tmpdir(), 'copydesk-backup-')), 'backup.sqlite')
  copydesk('backup', '--data', server.data, '--out', backup)
  await appends(ana, LOST)
  await saved(ana)

  await server.kill()
  await page.locator('.netbar').waitFor({ timeout: 60_000 })
  await appends(ana, ' It was cold.')
  copydesk('restore', '--from', backup, '--data', server.data, '--replace')
  // At an address that the page does not know.
  const elsewhere = await Server.start(server.data, server.model)
  await edits(elsewhere, id, NOTE + INSTEAD)
  const { version } = await edits(elsewhere, id, RESTORED)
  await elsewhere.stop()

  await page.evaluate(holdHashes)
  await server.start()
  await eventually(
    'the comparison',
    () => page.evaluate(() => globalThis.compares),
    (compares) => compares === true,
    60_000,
  )
  await appends(ana, ' And windy.')
  await page.evaluate(() => globalThis.release())
  await page.locator('.recovered').waitFor()
  await reads(ana, 'the restored text', RESTORED)
  same('the version, without what was typed', (await asks(server, id)).version, version)
  await ana.screenshot('restored-1-loaded')

  await page.getByRole('button', { name: 'Show my words' }).click()
  const offered = page.locator('.recovered-text ins')
  await offered.first().waitFor()
  same(
    'what is offered back',
    (await offered.allTextContents()).map((it) => it.trim()),
    ['It was cold. And windy.'],
  )
  await putsBack(ana)
  const { text } = await asks(server, id)
  same(
    'the text with it',
    [text.startsWith(RESTORED), text.trimEnd().endsWith('windy.')],
    [true, true],
  )
  same('errors', ana.errors, [])
})

/** One update at the end of the text. */
function appends(writer, words) {
  return writer.page.evaluate((insert) => {
    const { view } = document.querySelector('.cm-content').cmTile
    view.dispatch({ changes: { from: view.state.doc.length, insert } })
  }, words)
}

/** In the page: hashes are computed only after `release` was called. */
function holdHashes() {
  const digest = crypto.subtle.digest.bind(crypto.subtle)
  const released = new Promise((resolve) => (globalThis.release = resolve))
  crypto.subtle.digest = async (...about) => {
    globalThis.compares = true
    await released
    return digest(...about)
  }
}

function copydesk(...words) {
  const { stderr, status } = spawnSync(process.env.COPYDESK_BIN, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`copydesk ${words[0]}: ${stderr}`)
}

async function asks(server, path, options) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}/api/v1/documents/${path}`, { headers, ...options })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Brings the text of a document to this, in one update; the document then. */
async function edits(server, id, text) {
  const { version } = await asks(server, id)
  await asks(server, `${id}/edits`, { method: 'POST', body: JSON.stringify({ version, text }) })
  return asks(server, id)
}
