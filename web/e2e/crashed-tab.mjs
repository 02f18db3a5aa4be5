// What was typed and deleted while the server was away outlives a crash of the tab, and goes back
// to where it was, whatever others did to the text meanwhile; never in front of the title.
import { editText, idOf, textOf } from './rest.mjs'
import {
  PHONE,
  Writer,
  accessible,
  becomes,
  begin,
  caretAfter,
  caretBefore,
  eventually,
  kept,
  putsBack,
  reads,
  same,
  saved,
  story,
  written,
} from './support.mjs'

const TEXT = `# Chapter Four: The Ferry

Alpha beta gamma delta.

The fog came in twice that night. Nobody minded.

The fog came in twice that night. Everybody minded.`
const TYPED = ' A NEW SENTENCE.'
const DELETED = ' beta'

/** The text with what she typed and deleted. */
const put = (text) =>
  text.replace(DELETED, '').replace('night. Everybody', `night.${TYPED} Everybody`)

await story(async (keep) => {
  const { server, ana } = await begin(keep)
  await written(ana, TEXT, 'Chapter four')
  const address = ana.page.url()
  const id = idOf(address)

  // Others write at both ends while she is away.
  await offline(ana, server)
  await types(ana)
  await crash(ana)
  await server.start()
  const ferry = (text) => text.replace('# Chapter', 'Part two\n\n# Chapter') + ' The end.'
  await editText(server, id, ferry)
  const back = await again(ana, address)
  await back.page.getByRole('button', { name: 'Show my words' }).click()
  await eventually(
    'what is offered',
    () => back.page.locator('.recovered-text').allTextContents(),
    (shown) => shown.some((it) => it.includes(`that night.${TYPED} Everybody`)),
  )
  await becomes('what goes', () => back.page.locator('.recovered-text del').allTextContents(), [
    DELETED,
  ])
  await accessible(back, 'what is offered after a crash')
  await looks(back, 'crashed-tab-1-offered')
  // Pressed twice, they are put back once.
  await putsBack(back, { clickCount: 2 })
  const expected = ferry(put(TEXT))
  same('the text', await back.text(), expected)
  same('on the server', await textOf(server, id), expected)
  await back.page.reload()
  await back.page.locator('.cm-content').waitFor()
  await back.page.waitForTimeout(1_500)
  same('what is offered in the end', await back.page.locator('.recovered').count(), 0)

  // Crashed twice before it was taken; the text was written anew: to the end, not to the title.
  await offline(back, server)
  await caretBefore(back, ' Nobody minded')
  await back.page.keyboard.type(' WORDS FROM AWAY.')
  await kept(back, ' WORDS FROM AWAY.')
  await crash(back)
  await server.start()
  const anew = '# Another title\n\nAll of it was written anew.'
  await editText(server, id, () => anew)
  const second = await again(back, address)
  await second.page.locator('.recovered').waitFor()
  await crash(second)
  const third = await again(second, address, PHONE)
  await third.page.getByRole('button', { name: 'Show my words' }).click()
  await third.page.getByText('goes to the end of the text').waitFor()
  await third.screenshot('crashed-tab-2-phone')
  await putsBack(third)
  await reads(third, 'the words at the end', `${anew}\n\nWORDS FROM AWAY.`)

  // What arrived after all is not offered again.
  await saved(third)
  await third.caret((await third.text()).length)
  await third.page.keyboard.type(' And more.')
  await saved(third)
  await crash(third)
  const fourth = await again(third, address)
  await reads(fourth, 'the text at last', `${anew}\n\nWORDS FROM AWAY. And more.`)
  await fourth.page.waitForTimeout(1_500)
  same('what is offered', await fourth.page.locator('.recovered').count(), 0)
  same('errors', fourth.errors, [])
})

async function offline(writer, server) {
  await server.kill()
  await writer.page.locator('.netbar').waitFor()
}

async function types(writer) {
  await caretBefore(writer, ' Everybody')
  await writer.page.keyboard.type(TYPED)
  await caretAfter(writer, DELETED)
  for (const _ of DELETED) await writer.page.keyboard.press('Backspace')
  same('the text here', await writer.text(), put(TEXT))
  await kept(writer, TYPED)
  await kept(writer, `"removed":"${DELETED}"`)
}

/** As when a browser ends a tab: nothing of the page is run any more. */
async function crash(writer) {
  const gone = writer.page.waitForEvent('crash')
  const session = await writer.page.context().newCDPSession(writer.page)
  session.send('Page.crash').catch(() => undefined)
  await gone
}

/** The same browser, in a new tab. */
async function again(writer, address, options) {
  const context = writer.page.context()
  const page = await context.newPage()
  if (options) await page.setViewportSize(options.viewport)
  const next = new Writer(page, writer.name)
  next.hear(page)
  await page.goto(address)
  await page.locator('.cm-content').waitFor()
  return next
}

async function looks(writer, name) {
  for (const [width, height] of [
    [1440, 900],
    [1150, 720],
    [820, 1180],
    [390, 844],
  ]) {
    await writer.page.setViewportSize({ width, height })
    await writer.page.waitForTimeout(200)
    await writer.screenshot(`${name}-${width}`)
  }
  await writer.page.setViewportSize({ width: 1440, height: 900 })
}
