// In a text much longer than the screen: words that are not on it are found and replaced, the
// outline says where one is, and what is pasted or typed as Markdown is shown as it is meant.
import {
  accessible,
  begin,
  eventually,
  holds,
  press,
  put,
  reads,
  same,
  saved,
  selects,
  story,
  written,
} from './support.mjs'

const PARTS = 40
const part = (at) =>
  `## Part ${at}\n\n${'Nothing else happened on that day, and the evening came quietly. '.repeat(12)}\n\nThe grey lamp of part ${at} burned.`
const LONG = Array.from({ length: PARTS }, (_, at) => part(at + 1)).join('\n\n')
const TABLE =
  'Lights:\n\n| Light | Height |\n|---|--:|\n| Fell | 7 m |\n| Long Rock | 112 m |\n\nEnd.'

await story(async (keep) => {
  const { ana } = await begin(keep)
  await written(ana, 'Nothing yet.', 'A long text')
  await put(ana, LONG)
  await saved(ana)
  await found(ana)
  await outlined(ana)
  await tables(ana)
  await pictures(ana)
  await items(ana)
  same('errors in the pages', ana.errors, [])
})

/** What Ctrl+F finds is not only what is on the screen. */
async function found(ana) {
  const { page } = ana
  await ana.caret(0)
  await press(ana, 'Control+f')
  const bar = page.getByRole('search', { name: 'Find and replace' })
  await bar.getByLabel('Find', { exact: true }).waitFor()
  await page.keyboard.type('grey lamp')
  const count = bar.locator('.count')
  same('matches', await count.textContent(), String(PARTS))
  await press(ana, 'Enter')
  await press(ana, 'Enter')
  same('the second', await count.textContent(), `2 of ${PARTS}`)
  await press(ana, 'Shift+Enter')
  await press(ana, 'Shift+Enter')
  same('the last', await count.textContent(), `${PARTS} of ${PARTS}`)
  const selected = page.locator('.cm-searchMatch-selected')
  await selected.waitFor()
  const [match, seen] = [await selected.boundingBox(), page.viewportSize()]
  holds('it is on the screen', match.y > 56 && match.y < seen.height)
  await accessible(ana, 'find and replace')
  await ana.screenshot('long-text-1-find')
  await bar.getByLabel('Replace with').fill('green lamp')
  await bar.getByRole('button', { name: 'Replace', exact: true }).click()
  await eventually(
    'one is replaced',
    () => ana.text(),
    (text) => text.includes(`green lamp of part ${PARTS} `),
  )
  await bar.getByRole('button', { name: 'Replace all' }).click()
  await eventually(
    'all are replaced',
    () => ana.text(),
    (text) => text.split('green lamp').length - 1 === PARTS && !text.includes('grey lamp'),
  )
  await eventually(
    'how many',
    () => count.textContent(),
    (words) => words === `${PARTS - 1} replaced`,
  )
  await bar.getByLabel('Find', { exact: true }).fill('grey lamps')
  same('none is left', await count.textContent(), 'Not found')
  await bar.getByLabel('Find', { exact: true }).focus()
  await press(ana, 'Escape')
  await bar.waitFor({ state: 'detached' })
  holds(
    'the keyboard is in the text again',
    await page.evaluate(() => document.activeElement.matches('.cm-content')),
  )
  await press(ana, 'Control+z')
  await press(ana, 'Control+z')
  await reads(ana, 'the text as it was', LONG)
}

/** The outline shows which part one reads. */
async function outlined(ana) {
  const { page } = ana
  const here = page.locator('.outline [aria-current]')
  // The editor shows in a later frame what was undone, so the page may have to be scrolled again.
  await eventually(
    'at the top',
    async () => {
      await page.locator('.page-scroll').evaluate((scroll) => scroll.scrollTo(0, 0))
      return here.allTextContents()
    },
    (names) => names.join() === 'Part 1',
  )
  await page.locator('.outline').getByRole('button', { name: 'Part 20', exact: true }).click()
  await eventually(
    'half way down',
    () => here.allTextContents(),
    (names) => names.join() === 'Part 20',
  )
  await accessible(ana, 'the outline')
}

/** The columns of a table stand below each other, and its source is as it was. */
async function tables(ana) {
  const { page } = ana
  await put(ana, TABLE)
  await eventually(
    'where the bars of the columns are',
    () => page.evaluate(bars),
    (rows) =>
      rows.length === 4 && rows.every((row) => row.length === 3 && row.join() === rows[0].join()),
  )
  same('the text', await ana.text(), TABLE)
  await accessible(ana, 'a table in the text')
  await ana.screenshot('long-text-2-table')
}

/** In the page: the places of the bars of each row, in whole pixels. */
function bars() {
  return [...document.querySelectorAll('.line-table')].map((line) => {
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode())
      for (const { index } of walker.currentNode.data.matchAll(/\|/g)) {
        const range = document.createRange()
        range.setStart(walker.currentNode, index)
        range.setEnd(walker.currentNode, index + 1)
        found.push(Math.round(range.getBoundingClientRect().left))
      }
    return found
  })
}

/** Marks of Markdown are hidden, but for those that go over the end of a line. */
async function pictures(ana) {
  await put(
    ana,
    'Here:\n\n![The bridge](https://example.org/a.png "A\ntitle")\n\n---\n\n![One](b.png "two")\n',
  )
  await ana.caret(0)
  const shown = ana.page.locator('.cm-content')
  await eventually(
    'what is shown',
    () => shown.locator('.md-picture').count(),
    (count) => count === 2,
  )
  same('rules', await shown.locator('.md-rule').count(), 1)
  same(
    'the last line',
    await shown.locator('.cm-line', { hasText: 'One' }).textContent(),
    'Picture: One',
  )
}

/** Tab moves an item in, and elsewhere it leaves the text. */
async function items(ana) {
  const { page } = ana
  const list = '- one\n- two'
  await put(ana, `${list}\n\nThe end.`)
  await ana.caret(list.length)
  await press(ana, 'Enter')
  await reads(ana, 'another item', `${list}\n- \n\nThe end.`)
  await press(ana, 'Enter')
  await page.keyboard.type('After it.')
  await reads(ana, 'a paragraph after the list', `${list}\n\nAfter it.\n\nThe end.`)
  await put(ana, `${list}\n\nThe end.`)
  await ana.caret(list.length)
  await press(ana, 'Tab')
  await page.keyboard.type(' more')
  await reads(ana, 'the item moved in', '- one\n  - two more\n\nThe end.')
  await press(ana, 'Shift+Tab')
  await reads(ana, 'the item moved out', '- one\n- two more\n\nThe end.')
  await selects(ana, 'The end')
  await press(ana, 'Control+Shift+k')
  await page.keyboard.type('https://example.org')
  await reads(ana, 'a link', '- one\n- two more\n\n[The end](https://example.org).')
  await press(ana, 'Tab')
  holds(
    'Tab leaves the text elsewhere',
    await page.evaluate(() => !document.activeElement.matches('.cm-content')),
  )
}
