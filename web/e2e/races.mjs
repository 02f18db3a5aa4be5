// Two people look at the same change and decide it shortly after each other, in two browsers: the
// later press decides nothing else.
// COPYDESK_RACES says how many rounds; the figures are printed.
import {
  Server,
  Writer,
  eventually,
  looks,
  misspelt,
  same,
  scripted,
  startBrowser,
  story,
  waits,
  written,
} from './support.mjs'

const ROUNDS = Number(process.env.COPYDESK_RACES ?? 24)
const BATCH = 40
const [SOONEST_MS, LATEST_MS] = [60, 1_200]
const { right, wrong, line } = misspelt(BATCH)

/** Spread over the whole range, in no order. */
const delayOf = (round) => SOONEST_MS + ((round * 487) % (LATEST_MS - SOONEST_MS + 1))

await story(async (keep) => {
  const model = scripted([{ user: '(?i)correct', text: right }])
  const server = keep(await Server.start(process.env.COPYDESK_DATA, model))
  const [one, other] = [keep(await startBrowser()), keep(await startBrowser())]
  const ana = await Writer.arrive(one, server, 'Ana')
  await written(ana, wrong, 'An account')
  const bo = await Writer.invited(other, server, 'Bo', 'editor', ana.page.url())

  const unseen = []
  let left = 0
  for (let round = 0; round < ROUNDS; round++) {
    if (left === 0) left = await afresh(ana, bo)
    unseen.push(...(await race(ana, bo, round)))
    left--
  }
  console.log(
    `${ROUNDS} rounds, ${SOONEST_MS} to ${LATEST_MS} ms apart: ${unseen.length} decisions on unseen changes`,
  )
  same('decisions on unseen changes', unseen, [])
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/** The first text, and new changes. */
async function afresh(ana, bo) {
  await ana.page.locator('.cm-content').focus()
  await ana.page.keyboard.press('Control+a')
  await ana.page.keyboard.insertText(wrong)
  await ana.ask('Correct it')
  await waits(ana, 'the changes', BATCH)
  await waits(bo, 'the changes at Bo’s', BATCH)
  return BATCH
}

/** Sees the change decided by somebody else, and presses three times before taking it in. */
async function impatient({ page }, id) {
  await page.waitForFunction((row) => !document.querySelector(`[data-row="${row}"]`), id)
  await page.evaluate(() => {
    const bar = document.querySelector('[data-review-bar]')
    bar.focus()
    for (let count = 0; count < 3; count++)
      bar.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true }))
  })
}

/**
 * Both look at the first change; one decides it, the other presses a moment later. Answers the
 * decisions that nobody meant.
 */
async function race(ana, bo, round) {
  const [first, second] = round % 2 === 0 ? [ana, bo] : [bo, ana]
  const delay = delayOf(round)
  const [seen] = await eventually(
    `both look at the same change in round ${round}`,
    async () => {
      for (const writer of [first, second]) await writer.choose(1)
      return [await looks(first), await looks(second)]
    },
    ([one, other]) => one.id === one.waiting[0] && JSON.stringify(one) === JSON.stringify(other),
  )
  // As somebody who has looked at it.
  await second.page.waitForTimeout(500)
  await first.page.locator('.review-bar .is-primary').click()
  await second.page.waitForTimeout(delay)
  if (round % 4 < 2) await second.page.locator('.review-bar .button').first().click()
  else if (round % 8 === 3) await impatient(second, seen.id)
  else {
    await second.page.locator('[data-review-bar]').focus()
    await second.page.keyboard.press('r')
  }
  await second.page.waitForTimeout(150)
  const wanted = seen.waiting.filter((id) => id !== seen.id)
  for (const writer of [first, second])
    await eventually(
      `the change of round ${round} is decided`,
      () => looks(writer),
      ({ waiting }) => !waiting.includes(seen.id),
    )
  const now = (await looks(second)).waiting
  // It was accepted, by who was first.
  const at = BATCH - seen.waiting.length
  const stands = (await ana.text()).split('\n\n')[at]
  same(`what stands after round ${round}`, stands, line(at, false))
  return wanted.filter((id) => !now.includes(id)).map((id) => ({ round, delay, id }))
}
