// A question to the AI in a comment: answered in its thread, where its change is decided; and
// mentions of people, who find them in the list and have read them in every tab.
import { field, shows, texts, threads } from './commentCards.mjs'
import {
  Writer,
  accessible,
  becomes,
  begin,
  eventually,
  press,
  reads,
  same,
  selects,
  story,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was lit at six. Nobody came up the stair.\n\nIn the morning teh boat had gone.'

const state = (writer, words) => threads(writer).locator('.ai-state', { hasText: words })

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'The keeper')
  const address = ana.page.url()
  const bo = await Writer.invited(browser, server, 'Bo', 'reviewer', address, {
    colorScheme: 'dark',
  })
  await asked(ana, bo)
  await stopped(ana)
  await mentioned(ana, bo)
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/** Asked with a completed name, and decided in the thread by keyboard. */
async function asked(ana, bo) {
  await selects(ana, 'teh boat')
  await press(ana, 'Control+Alt+m')
  await field(ana, 'Comment').pressSequentially('@a')
  await ana.page.getByRole('option', { name: 'AI' }).waitFor()
  await press(ana, 'Enter')
  await ana.page.keyboard.type('is this a word?')
  await press(ana, 'Control+Enter')
  await state(ana, '1 change waits for a decision').waitFor()
  await state(ana, 'AI answers once that is decided.').waitFor()
  await bo.page.locator('.cm-comment-mark').click()
  await state(bo, '1 change waits for a decision').waitFor()
  same('Bo cannot stop it', await bo.page.getByRole('button', { name: 'Stop' }).count(), 0)
  await accessible(ana, 'a question with a change')
  await accessible(bo, 'a question with a change in the dark')
  await ana.screenshot('comments-ai-1-change')
  await bo.screenshot('comments-ai-2-dark')
  await threads(ana).getByRole('button', { name: 'Accept', exact: true }).focus()
  await press(ana, 'Enter')
  await eventually(
    'the keyboard stays in the thread',
    () => ana.page.evaluate(() => document.activeElement.dataset.thread ?? ''),
    (id) => id.startsWith('thr_'),
  )
  await reads(bo, 'the change', NOTE.replace('teh', 'the'))
  await shows(bo, 'the answer', ['@AI is this a word?', 'No. It is “the”.'])
  await state(bo, '1 change was accepted').waitFor()
  await becomes(
    'who says so',
    () => bo.page.locator('.comment-head').last().locator('b').textContent(),
    'AI',
  )
  await bo.page.getByText('asked by Owner').or(bo.page.getByText('asked by Ana')).waitFor()
  await ana.screenshot('comments-ai-3-answer')
  await field(bo, 'Reply').pressSequentially('@a')
  same(
    'who may not ask is not offered it',
    await bo.page.getByRole('option', { name: 'AI' }).count(),
    0,
  )
  await field(bo, 'Reply').fill('')
}

/** Stopped by who asked; the thread says so. */
async function stopped(ana) {
  await field(ana, 'Reply').fill('@ai slowly')
  await press(ana, 'Control+Enter')
  await state(ana, 'AI is answering…').waitFor()
  await accessible(ana, 'an answer that is to come')
  await ana.screenshot('comments-ai-4-answering')
  await state(ana, 'AI is answering…').getByRole('button', { name: 'Stop' }).click()
  await eventually(
    'the thread says that it was stopped',
    () => texts(ana),
    (all) => all.length === 4 && /cancelled/.test(all[3]),
  )
}

/** A mark in the list and in the title, until the thread was read in one of Bo’s tabs. */
async function mentioned(ana, bo) {
  const list = await bo.page.context().newPage()
  await list.goto(new URL('/', bo.page.url()).href)
  await list.locator('.document-line').first().waitFor()
  await bo.page.goto(new URL('/', bo.page.url()).href)
  await bo.page.locator('.document-line').first().waitFor()
  await ana.page.getByRole('button', { name: 'New comment on the document' }).click()
  await field(ana, 'Comment').pressSequentially('Done, @b')
  await ana.page.getByRole('option', { name: 'Bo' }).waitFor()
  await press(ana, 'Enter')
  await press(ana, 'Control+Enter')
  await list.getByText('Mentions you').waitFor()
  await eventually(
    'the title of the tab',
    () => list.title(),
    (title) => title.includes('@1'),
  )
  await bo.page.getByText('Mentions you').waitFor()
  await accessible(bo, 'a mention in the list')
  await bo.screenshot('comments-ai-5-list')
  await bo.page.getByText('Mentions you').click()
  await bo.page.locator('.panel-tab', { hasText: 'Comments' }).click()
  await list.getByText('Mentions you').waitFor({ state: 'detached' })
  await eventually(
    'the title of the other tab',
    () => list.title(),
    (title) => !title.includes('@'),
  )
}
