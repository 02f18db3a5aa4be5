// What is drawn where two things meet: names of others between the lines, the edge between what
// goes and what comes, borders where the system chooses the colours; and the history of two people
// who type at the same time.
import {
  Writer,
  accessible,
  becomes,
  begin,
  caretAfter,
  eventually,
  same,
  story,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was burning all through the night, and high above the harbour nobody saw it, or said that they did, although all of them could have. In the morning the boat had come back, and everything in the harbour was just as it had been left on the evening before the storm.'

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'A note about a lamp')
  const address = new URL(ana.page.url()).pathname
  const bo = await Writer.invited(browser, server, 'Bo', 'editor', address)
  await names(ana, bo)
  await bothType(ana, bo)
  await ana.ask('Tighten this, please')
  await eventually(
    'changes',
    () => ana.changes(),
    (changes) => changes.length >= 2,
  )
  await boundary(ana)
  await forced(ana)
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/** Bo's name stands in the free space between two lines: over no letter but for their tails. */
async function names(ana, bo) {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ]) {
    await ana.page.setViewportSize({ width, height })
    await caretAfter(bo, 'alth')
    await ana.page.locator('.cm-peer-flag', { hasText: 'Bo' }).waitFor()
    await caretAfter(bo, 'altho')
    await eventually(
      `the name at ${width} px`,
      () => ana.page.locator('.cm-peer-flag').evaluate(between),
      ({ flag, above, capitals }) => flag.top >= above - 0.5 && flag.bottom <= capitals + 0.5,
    )
    await ana.screenshot(`edges-1-name-${width}`)
  }
  await ana.page.setViewportSize({ width: 1440, height: 900 })
}

/** In the page: the flag, the baseline of the line above it, and the top of capitals beside it. */
function between(name) {
  const { top, bottom } = name.getBoundingClientRect()
  const caret = document.querySelector('.cm-peer-caret')
  const style = getComputedStyle(caret.parentElement)
  const context = document.createElement('canvas').getContext('2d')
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
  const { fontBoundingBoxAscent, actualBoundingBoxAscent } = context.measureText('H')
  // The caret is as high as the font.
  const baseline = caret.getBoundingClientRect().top + fontBoundingBoxAscent
  return {
    flag: { top, bottom },
    above: baseline - parseFloat(getComputedStyle(caret.closest('.cm-line')).lineHeight),
    capitals: baseline - actualBoundingBoxAscent,
  }
}

/** In turns, word by word: one step of the history, with the names of both. */
async function bothType(ana, bo) {
  await ana.caret(0)
  await bo.caret(NOTE.length)
  for (const word of ['One ', 'two ', 'three ', 'four ']) {
    await ana.page.keyboard.type(word)
    await bo.page.keyboard.type(word)
  }
  await eventually(
    'all that was typed, in both',
    async () => [await ana.text(), await bo.text()],
    ([hers, his]) => hers === his && hers === `One two three four ${NOTE}One two three four `,
  )
  await ana.menu('Version history')
  const steps = ana.page.locator('.step .step-who')
  await eventually(
    'one step with two names',
    () => steps.allTextContents(),
    (who) => who.length === 1 && /^(Bo and Owner|Owner and Bo) \(?.*· \+\d+/.test(who[0]),
  )
  await accessible(ana, 'a step of two people')
  await ana.screenshot('edges-2-history')
  await ana.page.getByRole('button', { name: 'Close' }).last().click()
}

/** No ligature joins the last letter that goes and the first one that comes. */
async function boundary({ page }) {
  for (const place of ['.cm-content', '.hunk-row']) {
    const ligatures = () =>
      page
        .locator(`${place} :is(del, ins)`)
        .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).fontVariantLigatures))
    const drawn = await eventually(`marked words in ${place}`, ligatures, (all) => all.length > 1)
    same(`ligatures in ${place}`, [...new Set(drawn)], ['no-common-ligatures'])
  }
}

/** Where the system chooses the colours, borders say what colours said. */
async function forced(ana) {
  const { page } = ana
  await page.emulateMedia({ forcedColors: 'active' })
  await ana.choose(1)
  const outlined = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((found) => {
        const { outlineStyle, outlineWidth, borderStyle, borderTopWidth } = getComputedStyle(found)
        const outline = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
        return outline || (borderStyle !== 'none' && parseFloat(borderTopWidth) > 0)
      })
  for (const change of ['.cm-content .is-active:is(del, ins)', '.hunk-row.is-active'])
    await becomes(`${change} has a border`, () => outlined(change), true)
  await ana.bar('Reject')
  await page.locator('.toast').waitFor()
  await becomes('the toast has a border', () => outlined('.toast'), true)
  await ana.screenshot('edges-3-forced-colours')
  await page.emulateMedia({ forcedColors: 'none' })
}
