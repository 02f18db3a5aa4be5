// A file of a folder as a document: chosen from a list, written by two people, changed by another
// program.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Server, Writer, accessible, eventually, same, startBrowser, story } from './support.mjs'

const folder = join(process.env.COPYDESK_DATA, 'workspace')
const path = join(folder, 'notes', 'lamp.md')
const NOTES = '# The lamp\n\nThe red lamp burns.\n\nNobody is there.\n'
const reads = (text) =>
  eventually(
    `the file reads ${JSON.stringify(text)}`,
    () => readFileSync(path, 'utf8'),
    (now) => now === text,
  )

await story(async (keep) => {
  mkdirSync(join(folder, 'notes'), { recursive: true })
  writeFileSync(path, NOTES)
  writeFileSync(join(folder, 'readme.txt'), 'Read me.\n')
  const data = join(process.env.COPYDESK_DATA, 'data')
  const server = keep(await Server.start(data, process.env.COPYDESK_MODEL, ['--workspace', folder]))
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  const { page } = ana

  await page.getByRole('button', { name: 'Open a file' }).click()
  await page.getByRole('button', { name: 'readme.txt' }).waitFor()
  await page.getByLabel('Find a file by its name').fill('lamp')
  await page.getByRole('button', { name: 'readme.txt' }).waitFor({ state: 'detached' })
  await accessible(ana, 'the list of files')
  await ana.screenshot('files-1-list')
  await page.getByLabel('Find a file by its name').press('Enter')
  await page.locator('.cm-content').waitFor()
  same('the title is the path', await page.getByLabel('Title').inputValue(), 'notes/lamp.md')

  const bo = await Writer.arrive(browser, server, 'Bo', { colorScheme: 'dark' })
  await bo.page.getByRole('link', { name: 'notes/lamp.md' }).click()
  await bo.page.locator('.cm-content').click()
  await bo.page.keyboard.press('ControlOrMeta+End')
  await bo.page.keyboard.type('Bo was here.\n')
  await reads(`${NOTES}Bo was here.\n`)

  // Another program writes: everybody is told, and reads it.
  writeFileSync(path, `${NOTES}Bo was here.\n`.replace('Nobody', 'Somebody'))
  await page.getByText('Changed on disk: merged').waitFor()
  await bo.page.getByText('Somebody is there.').waitFor()
  await ana.screenshot('files-2-merged')

  // Both at once: the writer's words stay, and the file's can be looked at. The other program must
  // come between what is typed and its way into the file: on a slow machine not at the first try.
  const overruled = page.getByText('people had changed').first()
  for (const [typed, written] of [
    ['blue', 'green'],
    ['pink', 'gray'],
    ['gold', 'teal'],
    ['jade', 'ruby'],
    ['plum', 'lime'],
  ]) {
    await page
      .locator('.cm-line', { hasText: /^The \w+ lamp/ })
      .dblclick({ position: { x: 40, y: 8 } })
    await page.keyboard.type(typed)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/The \w+ lamp/, `The ${written} lamp`))
    if (
      await overruled.waitFor({ timeout: 4000 }).then(
        () => true,
        () => false,
      )
    )
      break
  }
  await overruled.waitFor()
  await accessible(ana, 'a note about the file')
  await page.getByRole('button', { name: 'Show what stood in the file' }).click()
  await ana.screenshot('files-3-overruled')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Dismiss' }).click()

  rmSync(path)
  await page.getByText('is no longer on disk').waitFor()
  await ana.screenshot('files-4-missing')
  await bo.page.keyboard.type('It is made again.\n')
  await eventually(
    'the file is made again',
    () => (existsSync(path) ? readFileSync(path, 'utf8') : ''),
    (now) => now.includes('It is made again.'),
  )
  await page.getByText('is no longer on disk').waitFor({ state: 'detached' })
})
