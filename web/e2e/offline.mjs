// Words typed while the server is away go out when it comes back; if the page is ended before, they
// are kept on this device and offered back.
import { accessible, begin, eventually, putsBack, same, saved, story, written } from './support.mjs'

const NOTE = 'The lamp burned all night.'
const AWAY = ' Nobody saw it.'

await story(async (keep) => {
  const { server, ana } = await begin(keep)
  const { page } = ana
  await written(ana, NOTE, 'A note')
  const address = page.url()

  await away(ana, server, AWAY)
  await ana.screenshot('offline-1-away')
  await asked(ana)
  await server.start()
  await page.locator('.netbar').waitFor({ state: 'detached', timeout: 60_000 })
  await saved(ana, 'the words went out')
  await page.reload()
  await page.locator('.cm-content').waitFor()
  same('the text', await ana.text(), NOTE + AWAY)
  same('what is offered back', await page.locator('.recovered').count(), 0)

  await away(ana, server, ' It was cold.')
  // The question may go with its page, and a reload that is still failing ends a later visit.
  page.on('dialog', (question) => question.accept().catch(() => undefined))
  await page.reload().catch(() => undefined)
  await server.start()
  await eventually(
    'a visit after the reload',
    () =>
      page.goto(address).then(
        () => 'there',
        (error) => String(error),
      ),
    (found) => found === 'there',
  )
  // Reloaded again without being taken, they are still there.
  for (let visit = 0; visit < 2; visit++) {
    await page.locator('.recovered').waitFor()
    if (visit === 0) await page.reload()
  }
  same('the text without them', await ana.text(), NOTE + AWAY)
  await accessible(ana, 'words that are offered back')
  await ana.screenshot('offline-2-back')
  await page.getByRole('button', { name: 'Show my words' }).click()
  await putsBack(ana)
  same('the text with them', await ana.text(), `${NOTE}${AWAY} It was cold.`)
  await page.reload()
  await page.locator('.cm-content').waitFor()
  same('what is offered back in the end', await page.locator('.recovered').count(), 0)
})

/** A question that cannot be asked now is not typed into the text, and is kept. */
async function asked(ana) {
  const { page } = ana
  await page.keyboard.press('Control+k')
  await page.keyboard.type('why?')
  await page.keyboard.press('Enter')
  same('the text', await ana.text(), NOTE + AWAY)
  same('the question', await page.locator('#composer').inputValue(), 'why?')
  await page.locator('.composer-note', { hasText: 'The AI needs a connection.' }).waitFor()
}

/** Types while nobody answers. */
async function away(ana, server, words) {
  await server.kill()
  await ana.page.locator('.netbar').waitFor({ timeout: 60_000 })
  await ana.caret((await ana.text()).length)
  await ana.page.keyboard.type(words)
  await eventually(
    'what is said about them',
    () => ana.page.locator('.netbar').textContent(),
    (said) => said.includes('Your words are kept on this device'),
  )
}
