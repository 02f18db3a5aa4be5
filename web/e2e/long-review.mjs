// A whole review, of 16 and of 60 changes: by the keyboard alone, by the mouse alone, by touch
// alone. Every change is in view when it is decided.
import {
  PHONE,
  Server,
  Writer,
  eventually,
  looks,
  misspelt,
  put,
  same,
  saved,
  scripted,
  startBrowser,
  story,
  waits,
  written,
} from './support.mjs'

const COUNTS = [16, 60]

await story(async (keep) => {
  const model = scripted(
    COUNTS.map((count) => ({ user: `of ${count}`, text: misspelt(count).right })),
  )
  const server = keep(await Server.start(process.env.COPYDESK_DATA, model))
  const browser = keep(await startBrowser())
  const desk = await Writer.arrive(browser, server, 'Ana')
  await written(desk, 'Nothing yet.', 'An account')
  const phone = await Writer.open(browser, server, 'Cy', /An account/, PHONE)

  for (const count of COUNTS) {
    await reviewed(desk, byKeyboard, count)
    await reviewed(desk, byMouse, count)
    await reviewed(phone, byTouch, count)
  }
  same('errors in the pages', [...desk.errors, ...phone.errors], [])
})

/** Accepts every other change and rejects the rest; says how long it took. */
async function reviewed(writer, way, count) {
  // The text to begin with: not a part of the review.
  await put(writer, misspelt(count).wrong)
  await saved(writer)
  const hand = await way(writer, count)
  await waits(writer, `${count} changes`, count)
  await hand.begin()
  const started = performance.now()
  for (let left = count; left > 0; left--) {
    await eventually(
      `change ${count - left + 1} of ${count} is in view (${way.name})`,
      () => looks(writer),
      ({ seen }) => seen,
    )
    await (left % 2 === 0 ? hand.accept() : hand.reject())
    await waits(writer, `${left - 1} changes are left (${way.name})`, left - 1)
  }
  const each = Math.round((performance.now() - started) / count)
  console.log(`${count} changes, ${way.name}: ${each} ms each`)
  const { line } = misspelt(count)
  const wanted = Array.from({ length: count }, (_, at) => line(at, (count - at) % 2 === 1))
  const stands = (await writer.text()).split('\n\n')
  const wrong = wanted.findIndex((words, at) => words !== stands[at])
  same(`paragraph ${wrong} (${way.name})`, stands[wrong], wanted[wrong])
}

async function byKeyboard({ page }, count) {
  await page.keyboard.press('Control+k')
  await page.locator('#composer:focus').waitFor()
  await page.keyboard.type(`Correct all of ${count}`)
  await page.keyboard.press('Enter')
  return {
    begin: () => page.keyboard.press('F8'),
    accept: () => page.keyboard.press('Control+Enter'),
    reject: () => page.keyboard.press('Control+Shift+Enter'),
  }
}

async function byMouse(writer, count) {
  const { page } = writer
  await page.locator('#composer').click()
  await page.keyboard.type(`Correct all of ${count}`)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  const bar = page.locator('.review-bar')
  return {
    begin: () => writer.choose(1),
    accept: () => bar.getByRole('button', { name: /^Accept change/ }).click(),
    reject: () => bar.getByRole('button', { name: /^Reject change/ }).click(),
  }
}

async function byTouch(writer, count) {
  const { page } = writer
  await page.getByRole('button', { name: 'Ask and review' }).tap()
  await page.locator('#composer').tap()
  await page.keyboard.type(`Correct all of ${count}`)
  await page.getByRole('button', { name: 'Ask', exact: true }).tap()
  await waits(writer, `${count} changes on the phone`, count)
  const bar = page.locator('.review-bar')
  return {
    begin: async () => {
      await page.locator('.hunk-row .hunk-open').first().tap()
      await page.getByRole('button', { name: 'Close suggestions' }).tap()
      await page.waitForTimeout(500)
      if ((await looks(writer)).seen) return
      // To the last change and around its end.
      await bar.getByRole('button', { name: 'Previous change' }).tap()
      await bar.getByRole('button', { name: 'Next change' }).tap()
    },
    accept: () => bar.getByRole('button', { name: /^Accept change/ }).tap(),
    reject: () => bar.getByRole('button', { name: /^Reject change/ }).tap(),
  }
}
