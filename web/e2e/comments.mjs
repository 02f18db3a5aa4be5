// Two people talk about a text in comments: on words, with replies, edits and deletions, while the
// words move, go and come back.
import { field, shows, threads } from './commentCards.mjs'
import {
  Writer,
  accessible,
  announced,
  becomes,
  begin,
  caretBefore,
  eventually,
  inText,
  listen,
  press,
  reads,
  same,
  saved,
  selects,
  story,
  typesAfter,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was lit at six. Nobody came up the stair.\n\nIn the morning teh boat had gone.'

/** Longer than two presses of a double click are apart. */
const PRESS_MS = 600

const tab = (writer, name) => writer.page.locator('.panel-tab', { hasText: name }).first()
/** The words that are marked as commented on, thread by thread. */
const anchored = (writer) =>
  writer.page.evaluate(() => {
    const words = new Map()
    for (const mark of document.querySelectorAll('.cm-comment')) {
      const id = mark.dataset.thread
      words.set(id, (words.get(id) ?? '') + mark.textContent)
    }
    return [...words.values()]
  })
const marks = (writer, what, wanted) =>
  eventually(
    what,
    () => anchored(writer),
    (all) => JSON.stringify(all) === JSON.stringify(wanted),
  )
const filter = (writer, name) =>
  writer.page.locator('.comment-filters .chip', { hasText: name }).click()

/** Sends a comment from a field, as people do who know the key. */
async function says(writer, label, words) {
  await field(writer, label).fill(words)
  await press(writer, 'Control+Enter')
}

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'The keeper')
  const address = ana.page.url()
  const bo = await Writer.invited(browser, server, 'Bo', 'reviewer', address, {
    colorScheme: 'dark',
  })
  await listen(bo)

  await commented(ana, bo)
  await answered(ana, bo)
  await typedAround(ana, bo)
  await settled(ana, bo)
  await wordsGone(ana, bo)
  await onAChange(ana, bo)
  await linked(browser, server, ana)
  await read(browser, server, address)
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

/** On selected words, with a name that is completed; the other hears of it once. */
async function commented(ana, bo) {
  await selects(ana, 'The lamp was lit')
  await ana.page.locator('.selection-menu').getByRole('button', { name: 'Comment' }).click()
  await field(ana, 'Comment').pressSequentially('Who lit it, @b')
  await ana.page.getByRole('option', { name: 'Bo' }).waitFor()
  await ana.screenshot('comments-1-name')
  await press(ana, 'Enter')
  await ana.page.keyboard.type('?')
  await accessible(ana, 'a comment that is written')
  await press(ana, 'Control+Enter')
  await shows(ana, 'the comment', ['Who lit it, @Bo ?'])
  await becomes('the mention', () => ana.page.locator('.mention').allTextContents(), ['@Bo'])
  await marks(ana, 'the words', ['The lamp was lit'])
  await marks(bo, 'the words at Bo’s', ['The lamp was lit'])
  await becomes(
    'a mark beside the line',
    () => bo.page.locator('.cm-comment-mark.is-unread').count(),
    1,
  )
  await eventually(
    'what Bo hears',
    () => announced(bo),
    (said) => /commented on “The lamp was lit”: Who lit it/.test(said),
  )
  await eventually(
    'the number of unread threads',
    () => tab(bo, 'Comments').textContent(),
    (said) => said === 'Comments 1 unread',
  )
}

/** Read, answered, changed and deleted. */
async function answered(ana, bo) {
  await bo.page.locator('.cm-comment-mark').click()
  await bo.page.locator('.mention.is-me').waitFor()
  await eventually(
    'nothing unread',
    () => tab(bo, 'Comments').textContent(),
    (said) => said === 'Comments',
  )
  await accessible(bo, 'a thread in the dark')
  await bo.screenshot('comments-2-dark')
  await says(bo, 'Reply', 'I did.')
  await shows(ana, 'the reply', ['Who lit it, @Bo ?', 'I did.'])
  await bo.page.getByRole('button', { name: 'Edit your comment' }).click()
  await says(bo, 'Edit your comment', 'Ines did.')
  await shows(ana, 'the reply as it is now', ['Who lit it, @Bo ?', 'Ines did.'])
  await ana.page.locator('.comment-head time', { hasText: /edited$/ }).waitFor()
  same(
    'what Bo can do with the comment of another',
    await bo.page.getByRole('button', { name: /^Delete the comment of/ }).count(),
    0,
  )
  await says(bo, 'Reply', 'Or Tom.')
  await shows(ana, 'three comments', ['Who lit it, @Bo ?', 'Ines did.', 'Or Tom.'])
  const remove = ana.page.getByRole('button', { name: /^Delete the comment of Bo/ }).last()
  await remove.click()
  await ana.page.waitForTimeout(PRESS_MS)
  await remove.click()
  await shows(bo, 'the last is gone', ['Who lit it, @Bo ?', 'Ines did.'])
  await ana.screenshot('comments-3-thread')
}

/** Words typed inside and around, by the one and the other. */
async function typedAround(ana, bo) {
  await caretBefore(ana, 'The lamp')
  await ana.page.keyboard.type('So. ')
  await typesAfter(ana, 'The ', 'old ')
  await typesAfter(ana, 'The old lamp was lit', ' early')
  await saved(ana)
  await marks(ana, 'the words', ['The old lamp was lit'])
  await marks(bo, 'the words at Bo’s', ['The old lamp was lit'])
  await selects(ana, 'old lamp')
  await press(ana, 'Control+Alt+m')
  await says(ana, 'Comment', 'How old?')
  await eventually(
    'one mark for both',
    () => bo.page.locator('.cm-comment-mark').allTextContents(),
    (all) => JSON.stringify(all) === '["2"]',
  )
  await ana.screenshot('comments-4-two')
}

/** Resolved by the one, reopened by the other. */
async function settled(ana, bo) {
  const thread = () => threads(ana).filter({ hasText: 'How old?' })
  await thread().getByRole('button', { name: 'Resolve' }).click()
  await eventually(
    'one is left',
    () => threads(bo).count(),
    (count) => count === 1,
  )
  await filter(bo, 'Resolved')
  await threads(bo).filter({ hasText: 'How old?' }).waitFor()
  await bo.page.getByText(/^Resolved by/).waitFor()
  await accessible(bo, 'a resolved thread')
  await bo.page.getByRole('button', { name: 'Reopen' }).last().click()
  await thread().waitFor()
  await thread().getByRole('button', { name: 'Resolve' }).click()
  await eventually(
    'it is done',
    () => threads(ana).count(),
    (count) => count === 1,
  )
  await filter(bo, 'Open')
}

/** Without its words a thread waits; it comes back with them. */
async function wordsGone(ana, bo) {
  const before = await ana.text()
  await selects(ana, 'The old lamp was lit early at six. ')
  await press(ana, 'Delete')
  await filter(bo, 'Words deleted')
  await bo.page.getByText('The words were deleted').waitFor()
  await becomes('the quotation', () => threads(bo).locator('q').allTextContents(), [
    'The lamp was lit',
  ])
  await becomes('no words are marked', () => anchored(bo), [])
  await accessible(bo, 'a thread without its words')
  await bo.screenshot('comments-5-words-deleted')
  await inText(ana)
  await press(ana, 'Control+z')
  await reads(bo, 'the text back', before)
  await marks(bo, 'the words back', ['The old lamp was lit'])
  await filter(bo, 'Open')
  await shows(bo, 'the thread', ['Who lit it, @Bo ?', 'Ines did.'])
}

/** On a change, from its card; the thread stays with the words once they are accepted. */
async function onAChange(ana, bo) {
  await ana.caret(0)
  await tab(ana, 'Suggestions').click()
  await ana.ask('Fix the spelling')
  await ana.page.locator('.hunk-row.is-active').waitFor()
  await ana.page.getByRole('button', { name: /^Comment on change/ }).click()
  await says(ana, 'Comment', 'Is it?')
  await threads(bo).filter({ hasText: 'On a change' }).waitFor()
  await tab(ana, 'Suggestions').click()
  await ana.page.getByRole('button', { name: /^Comments \(1\) on change/ }).waitFor()
  await ana.screenshot('comments-6-change')
  await ana.bar('Accept')
  await eventually(
    'the thread is at the accepted word',
    () => anchored(bo),
    (all) => all.some((words) => words.includes('the')),
  )
}

/** A link opens the document at its thread, also at a resolved one. */
async function linked(browser, server, ana) {
  await tab(ana, 'Comments').click()
  await filter(ana, 'Resolved')
  const id = await threads(ana).filter({ hasText: 'How old?' }).getAttribute('data-thread')
  const path = `${new URL(ana.page.url()).pathname}#comment=${id}`
  const cy = await Writer.arrive(browser, server, 'Cy')
  await cy.page.goto(server.url + path)
  await cy.page.locator(`article[data-thread="${id}"]:focus`).waitFor()
  await eventually(
    'what is focused',
    () => cy.page.evaluate(() => document.activeElement.dataset.thread),
    (now) => now === id,
  )
  await cy.page.evaluate(() => (window.location.hash = '#comment=thr_none'))
  await cy.page.locator('.toast', { hasText: 'was deleted' }).waitFor()
  same('errors in the page of the link', cy.errors, [])
}

/** A person who may only read sees the comments and cannot write one. */
async function read(browser, server, address) {
  const vi = await Writer.invited(browser, server, 'Vi', 'viewer', address)
  await vi.page.locator('.cm-comment-mark').first().click()
  await threads(vi).first().waitFor()
  same('fields', await vi.page.locator('.comment-field').count(), 0)
  same('buttons', await vi.page.getByRole('button', { name: 'Resolve', exact: true }).count(), 0)
  await press(vi, 'Control+Alt+m')
  same('fields after the key', await vi.page.locator('.comment-field').count(), 0)
  same('errors in the page of the viewer', vi.errors, [])

  const sue = await Writer.invited(browser, server, 'Sue', 'suggester', address)
  await selects(sue, 'boat had gone')
  await press(sue, 'Control+Alt+m')
  await says(sue, 'Comment', 'Which boat?')
  await threads(vi).filter({ hasText: 'Which boat?' }).waitFor()
  same('errors in the page of the suggester', sue.errors, [])
}
