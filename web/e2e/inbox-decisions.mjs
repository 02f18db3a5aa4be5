// The desk with all that a decision can carry: half-written words outlive what somebody else
// decides, a note goes along, a rule is remembered and decides the next file, the keyboard goes
// from card to card, and the one that somebody is at does not run out of time.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  TOKEN,
  Server,
  Writer,
  accessible,
  eventually,
  holds,
  same,
  startBrowser,
  story,
} from './support.mjs'

const folder = join(process.env.COPYDESK_DATA, 'workspace')
const file = (name) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null

const card = ({ page }, list, name) =>
  page.getByRole('list', { name: list }).getByRole('listitem', { name })
const button = ({ page }, name) => page.getByRole('button', { name, exact: true })

async function ask({ page }, words) {
  await page.getByLabel('Ask for work in the workspace').fill(words)
  await button({ page }, 'Ask').click()
}

await story(async (keep) => {
  mkdirSync(folder)
  const server = keep(
    await Server.start(join(process.env.COPYDESK_DATA, 'data'), process.env.COPYDESK_MODEL, [
      '--workspace',
      folder,
    ]),
  )
  const browser = keep(await startBrowser())
  const ana = await Writer.arrive(browser, server, 'Ana', { colorScheme: 'light' })
  const bo = await Writer.arrive(browser, server, 'Bo', { colorScheme: 'dark' })
  for (const { page } of [ana, bo]) await page.getByRole('button', { name: /^Desk/ }).click()

  await overtaken(ana, bo)
  await withNote(ana)
  await remembered(ana, bo)
  await byKeyboard(ana, bo)
  await twoPeople(ana, server)
  same('no page failed', [...ana.errors, ...bo.errors], [])
})

/** Bo rejects what Ana is answering: her words are offered back, and she is told who it was. */
async function overtaken(ana, bo) {
  await ask(ana, 'The first')
  await button(ana, 'Answer instead of Write notes/one.md').click()
  await ana.page.getByLabel('Answer to the AI').fill('It is in the cellar.')
  await ana.page.getByText('What the AI will be told').click()
  await eventually(
    'what the AI will be told',
    () => ana.page.locator('.told pre').first().textContent(),
    (told) => told === 'It is in the cellar.',
  )
  await accessible(ana, 'an answer')
  await ana.screenshot('inbox-decisions-1-answer')
  await button(bo, 'Reject Write notes/one.md').click()
  await bo.page.getByLabel('Reason in your own words').fill('Not now.')
  await button(bo, 'Reject Write notes/one.md').click()
  const kept = ana.page.locator('.orphans')
  await eventually(
    'who was faster',
    () => kept.locator('.card-note').textContent(),
    (words) => words === 'Write notes/one.md: Rejected by Owner (as Bo), while you were answering.',
  )
  same('the words kept', await kept.locator('blockquote').textContent(), 'It is in the cellar.')
  await accessible(ana, 'an answer that was overtaken')
  await ana.screenshot('inbox-decisions-2-overtaken')
  await card(bo, 'Earlier', 'Write notes/one.md').getByText('User rejected: Not now.').waitFor()
  // They stay until she says otherwise, also when she goes away and comes back.
  await ana.page.keyboard.press('Escape')
  await ana.page.getByRole('button', { name: /^Desk/ }).click()
  await kept.getByRole('button', { name: 'Discard' }).click()
  await kept.waitFor({ state: 'detached' })
}

async function withNote(ana) {
  await ask(ana, 'The second')
  await button(ana, 'Approve Write notes/two.md with a note').click()
  await ana.page.getByLabel('Note for the AI').fill('Thank you.')
  await ana.page.getByText('What the AI will be told').click()
  await eventually(
    'what the AI will be told',
    () => ana.page.locator('.told pre').first().textContent(),
    (told) => told === '(the result of the call)\nUser note: Thank you.',
  )
  await button(ana, 'Approve Write notes/two.md with this note').click()
  await eventually(
    'the second file',
    () => file('notes/two.md'),
    (text) => text === 'Two.\n',
  )
  await card(ana, 'Earlier', 'Write notes/two.md').getByText('User note: Thank you.').waitFor()
}

/**
 * Not asked again for such files: the next one is written at once, with the rule on its card, for
 * both of them.
 */
async function remembered(ana, bo) {
  await ask(ana, 'The third')
  await card(ana, 'Waiting', 'Write notes/three.md')
    .getByRole('button', { name: 'Don’t ask again for Write…' })
    .click()
  const wish = ana.page.getByRole('dialog', { name: 'Don’t ask again for Write' })
  await wish
    .getByText(
      'Write in files like notes/three.md, at most 100 characters changed, only what you asked for in one session: approved at once, in your name',
    )
    .waitFor()
  await wish.getByLabel(/^Files/).selectOption({ label: '.md files in notes' })
  await wish.getByLabel(/^Changes of/).selectOption({ label: 'any size' })
  await accessible(ana, 'the wish to remember')
  await ana.screenshot('inbox-decisions-3-wish')
  await wish.getByRole('button', { name: 'Approve and remember' }).click()
  await eventually(
    'the third file',
    () => file('notes/three.md'),
    (text) => text === 'Three.\n',
  )
  await ask(ana, 'The fourth')
  await eventually(
    'the fourth file, unasked',
    () => file('notes/four.md'),
    (text) => text === 'Four.\n',
  )
  for (const writer of [ana, bo]) {
    const done = card(writer, 'Earlier', 'Write notes/four.md')
    await done.getByText('Approved by your rule').waitFor()
    await done.getByText('Write in files like notes/*.md, of any size').waitFor()
  }
  await accessible(bo, 'an automatic approval in the dark')
  await ana.screenshot('inbox-decisions-4-by-rule')
}

/** From card to card by keyboard; the countdown stands still where one is, and only there. */
async function byKeyboard(ana, bo) {
  await ask(ana, 'Elsewhere')
  await card(ana, 'Waiting', 'Write else.md').waitFor()
  await ask(bo, 'For Bo')
  const [first, second] = [
    card(ana, 'Waiting', 'Write else.md'),
    card(ana, 'Waiting', 'Write bo.md'),
  ]
  await second.waitFor()
  await bo.page.keyboard.press('Escape')
  await first.getByText('after you leave').waitFor()
  await ana.page.getByRole('button', { name: 'Close' }).focus()
  await ana.page.keyboard.press('F8')
  holds(
    'the first card has the keyboard',
    await first.evaluate((it) => it === document.activeElement),
  )
  await ana.page.keyboard.press('j')
  await second.getByText('after you leave').waitFor()
  await first.getByText('min left').waitFor()
  await accessible(ana, 'two cards')
  await ana.screenshot('inbox-decisions-5-two-cards')
  await ana.page.keyboard.press('r')
  await ana.page.getByLabel('Reason in your own words').waitFor()
  // The first letter of it approves nothing.
  await ana.page.keyboard.type('a no.')
  await ana.page.keyboard.press('Escape')
  await second.getByRole('button', { name: /^Reject/ }).click()
  same(
    'the reason is still there',
    await ana.page.getByLabel('Reason in your own words').inputValue(),
    'a no.',
  )
  await ana.page.keyboard.press('Control+Enter')
  await second.waitFor({ state: 'detached' })
  await ana.page.setViewportSize({ width: 390, height: 844 })
  await first.scrollIntoViewIfNeeded()
  await accessible(ana, 'the desk on a phone')
  await ana.screenshot('inbox-decisions-6-phone')
  await first.focus()
  await ana.page.keyboard.press('a')
  await eventually(
    'the last file',
    () => file('else.md'),
    (text) => text === 'Elsewhere.\n',
  )
}

/**
 * Two people decide: the card says so, and how many have; what is told to Ana lies before the desk,
 * not behind it.
 */
async function twoPeople(ana, server) {
  const call = async (method, path, body) => {
    const answer = await fetch(`${server.url}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    holds(`${method} ${path}: ${answer.status}`, answer.ok)
  }
  await call('POST', 'tokens', { role: 'reviewer', name: 'Cy' })
  await call('PATCH', 'documents/desk/settings', { policy: 'two' })
  await ask(ana, 'Together')
  const both = card(ana, 'Waiting', 'Write both.md')
  await both.getByText('Two approvals').waitFor()
  await both.getByText('0 of 2 approvals').waitFor()
  await button(ana, 'Approve Write both.md').click()
  await both.getByText('1 of 2 approvals').waitFor()
  const toast = ana.page.locator('dialog .toast', {
    hasText: 'You approved it. One more approval needed.',
  })
  await toast.waitFor()
  await accessible(ana, 'a request that two decide, on a phone')
  await ana.screenshot('inbox-decisions-7-two-people')
  same('nothing is written by one', file('both.md'), null)
}
