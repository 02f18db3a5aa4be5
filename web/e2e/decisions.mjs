// Everything a decision can carry, and nothing lost: several suggestions at once, the rest
// finished, an edit somebody else overtook, the bin, frozen passages, and a document where nobody
// is asked.
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  reads,
  same,
  saved,
  selects,
  story,
  waits,
  written,
} from './support.mjs'

const NOTE =
  'The lamp was burning all through the night. Nobody saw it, or said that they did. In the morning the fog had gone. The boat had come back.'
const BOTH =
  'The lamp burned all night. Nobody saw it, or said that they did. By morning the fog had gone. The boat was back.'

/** Makes the change with these words the active one, whatever its number. */
const choose = (writer, words) =>
  writer.page.locator('.hunk-row', { hasText: words }).locator('.hunk-open').click()

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep)
  await written(ana, NOTE, 'The lamp')
  const bo = await Writer.open(browser, server, 'Bo', /The lamp/, { colorScheme: 'dark' })
  await reads(bo, 'the text at Bo’s', NOTE)
  const button = (writer, name) => writer.page.getByRole('button', { name })

  await frozen(ana, bo)
  await settings(ana)

  // Two suggestions, from two people, accepted in one go, and taken back in one go.
  await ana.ask('Shorten the beginning')
  await bo.ask('Shorten the end')
  const open = await eventually(
    'changes of both suggestions',
    () => ana.changes(),
    (changes) => changes.length >= 3,
  )
  await ana.page
    .getByRole('button', { name: `Accept all ${open.length} in 2 suggestions…`, exact: true })
    .waitFor()
  await accessible(ana, 'two suggestions')
  await ana.screenshot('decisions-3-two-suggestions')
  await ana.page
    .getByRole('button', { name: `Accept all ${open.length} in 2 suggestions…`, exact: true })
    .click()
  const list = ana.page.locator('dialog.together')
  await list.locator('li').first().waitFor()
  same('all that will be accepted is listed', await list.locator('li').count(), open.length)
  await list.getByRole('button', { name: `Accept ${open.length} changes` }).click()
  await reads(bo, 'both suggestions', BOTH)
  await ana.page.locator('.cm-content').focus()
  await ana.page.keyboard.press('Control+z')
  await reads(bo, 'both taken back', NOTE)
  await waits(ana, 'all changes again', open.length)

  // Bo rejects the very change Ana is rewriting: her words are offered back, and she is told who it
  // was.
  await choose(ana, 'burned')
  await ana.bar('Edit')
  await ana.page.locator('.hunk-edit textarea').fill('gleamed')
  await ana.page.locator('.hunk-edit').getByText('What the AI will be told').click()
  await eventually(
    'what the AI will be told',
    () => ana.page.locator('.hunk-edit .told pre').textContent(),
    (told) => told.includes('gleamed'),
  )
  await choose(bo, 'burned')
  await bo.bar('Reject')
  await waits(ana, 'one change less', open.length - 1)
  const orphan = ana.page.locator('.orphans')
  await eventually(
    'who overtook her',
    () => orphan.locator('.card-note').textContent(),
    (words) => words.startsWith('Rejected by Owner (as Bo)'),
  )
  same('the words kept', await orphan.locator('blockquote').textContent(), 'gleamed')
  await ana.page.locator('.panel-body').evaluate((body) => body.scrollTo(0, 0))
  await accessible(ana, 'an edit that was overtaken')
  await ana.screenshot('decisions-4-overtaken')
  await ana.caret(0)
  await orphan.getByRole('button', { name: 'Put in at the caret' }).click()
  await reads(bo, 'her words in the text', `gleamed${NOTE}`)
  await orphan.waitFor({ state: 'detached' })
  await saved(ana)
  for (let letter = 0; letter < 'gleamed'.length; letter++)
    await ana.page.keyboard.press('Backspace')
  await reads(bo, 'without them', NOTE)

  // One change rejected with a reason, and the rest of its suggestion accepted, in one decision.
  await finishTheRest(ana, bo)
  await saved(bo)

  // What was rejected is in the bin, and comes back from there.
  await button(ana, 'Bin').click()
  const binned = ana.page.locator('.binned')
  await binned.first().waitFor()
  await eventually(
    'who and why',
    () => binned.allTextContents(),
    (cards) =>
      cards.length === 2 &&
      cards.some((words) =>
        words.includes('1 accepted, 1 rejected by Owner (as Ana): “It is right as it is”'),
      ) &&
      cards.some((words) => words.includes('Rejected by Owner (as Bo)')),
  )
  await accessible(ana, 'the bin')
  await ana.screenshot('decisions-5-bin')
  await binned
    .filter({ hasText: 'Shorten the beginning' })
    .getByRole('button', { name: 'Bring back' })
    .click()
  await waits(bo, 'a change to review again', 1)
  await button(ana, 'Bin').click()

  // Everything deleted and undone: the suggestions went with their words, and come back by one
  // click.
  await ana.page.locator('.cm-content').focus()
  await ana.page.keyboard.press('Control+a')
  const text = await ana.text()
  await ana.page.keyboard.press('Delete')
  await ana.page.locator('.toast', { hasText: 'went with the words' }).waitFor()
  await waits(bo, 'nothing to review', 0)
  await ana.page.keyboard.press('Control+z')
  await reads(bo, 'the text back', text)
  await button(ana, 'Bin').click()
  const again = ana.page.locator('.binned', { hasText: 'Its words are gone' }).first()
  await again.getByRole('button', { name: 'Bring back' }).click()
  await waits(bo, 'a change to review once more', 1)
  await ana.screenshot('decisions-5-back')
  await button(ana, 'Bin').click()
  await button(bo, /^Reject (all \d+|1 change)…$/)
    .first()
    .click()
  await bo.page.locator('.reason button[type=submit]').click()
  await waits(ana, 'nothing waits', 0)

  await oneAgain(ana, bo)
  await withoutApprovals(ana, bo)
  await reasonOvertaken(ana, bo)

  // The panel is opened while its code is still on the way.
  const phone = await Writer.arrive(browser, server, 'Cy', PHONE)
  let release
  const pressed = new Promise((resolve) => (release = resolve))
  await phone.page.route('**/besideText-*.js', (route) => pressed.then(() => route.continue()))
  await phone.documents
    .filter({ hasText: /The lamp/ })
    .first()
    .click()
  await phone.page.locator('.sheet-open').click()
  release()
  await button(phone, 'Bin').click()
  await phone.page.locator('.binned').first().waitFor()
  await accessible(phone, 'the bin on a phone')
  await phone.screenshot('decisions-7-phone-bin')
  await button(phone, 'Review settings').click()
  await accessible(phone, 'the settings on a phone')
  await phone.screenshot('decisions-8-phone-settings')
  same('errors in the pages', [...ana.errors, ...bo.errors, ...phone.errors], [])
})

/** Frozen by key, seen by both, moved with the text, kept from tools, let go from the list. */
async function frozen(ana, bo) {
  await selects(ana, 'the night')
  await ana.page.locator('.selection-menu').waitFor()
  await ana.page.keyboard.press('Control+Shift+l')
  await ana.page.locator('.cm-lock').waitFor()
  await bo.page.locator('.cm-lock').waitFor()
  same('the frozen words', await bo.page.locator('.cm-frozen').allTextContents(), ['the night'])
  await bo.caret(0)
  await bo.page.keyboard.type('Well. ')
  await reads(ana, 'Bo’s words', `Well. ${NOTE}`)
  same('the frozen words moved', await ana.page.locator('.cm-frozen').allTextContents(), [
    'the night',
  ])
  await accessible(ana, 'a frozen passage')
  await ana.screenshot('decisions-1-frozen')
  await bo.screenshot('decisions-1-frozen-dark')
  // About the whole document, not about what is still selected.
  await ana.caret(0)
  await ana.ask('Shorten the beginning')
  await eventually(
    'the AI was told',
    () => ana.page.locator('.card').first().textContent(),
    (words) => words.includes('frozen') && words.includes('As you like.'),
  )
  same('nothing to review', await ana.changes(), [])
  for (let letter = 0; letter < 'Well. '.length; letter++) await bo.page.keyboard.press('Backspace')
  await reads(ana, 'as before', NOTE)
}

async function settings(ana) {
  await ana.page.getByRole('button', { name: 'Review settings' }).click()
  const dialog = ana.page.locator('dialog')
  await dialog.getByRole('button', { name: 'Unfreeze “the night”' }).waitFor()
  await dialog.getByLabel('Two people').click()
  await eventually(
    'why not two',
    () => dialog.locator('.warn-note').textContent(),
    (words) => words.includes('at least two could decide'),
  )
  await dialog.getByLabel('Time to decide').selectOption('0')
  await accessible(ana, 'the review settings')
  await ana.screenshot('decisions-2-settings')
  await dialog.getByRole('button', { name: 'Unfreeze “the night”' }).click()
  await eventually(
    'nothing frozen',
    () => dialog.locator('.passages li').count(),
    (count) => count === 0,
  )
  await ana.page.keyboard.press('Escape')
  await ana.page.locator('.cm-lock').waitFor({ state: 'detached' })
}

async function finishTheRest(ana, bo) {
  await choose(ana, 'By')
  await ana.page
    .locator('.hunk-row.is-active')
    .getByRole('button', { name: /^Add a reason/ })
    .click()
  const form = ana.page.locator('.reason')
  await form.getByLabel('Reason in your own words').fill('It is right as it is')
  const others = await form.getByText(/^The other/).count()
  holds('there is a rest to finish', others === 1)
  await form.getByRole('radio', { name: 'Accept', exact: true }).click()
  await form.getByText('What the AI will be told').click()
  await eventually(
    'what the AI will be told',
    () => form.locator('.told pre').textContent(),
    (told) =>
      told.startsWith('Partly applied:') && told.includes('User feedback: It is right as it is'),
  )
  await form.getByRole('button', { name: /^Reject change \d+ and accept the rest$/ }).click()
  await waits(bo, 'all decided', 0)
  await eventually(
    'who decided it',
    () => bo.page.locator('.card .tool-line').allTextContents(),
    (lines) =>
      lines.some((line) => line.includes('2 changes: 1 accepted, 1 rejected by Owner (as Ana)')),
  )
}

/** Of two changes that were rejected together one comes back, and the other stays where it is. */
async function oneAgain(ana, bo) {
  await ana.ask('Shorten the beginning')
  await waits(bo, 'two changes', 2)
  await bo.page.getByRole('button', { name: 'Reject all 2…' }).click()
  await bo.page.locator('.reason button[type=submit]').click()
  await waits(ana, 'both rejected', 0)
  await ana.page.getByRole('button', { name: 'Bin' }).click()
  const card = ana.page.locator('.binned').first()
  await card.getByRole('button', { name: 'Bring back all 2' }).waitFor()
  await accessible(ana, 'changes that can come back one by one')
  await ana.screenshot('decisions-5-one-by-one')
  await card
    .locator('.decided-row', { hasText: 'burned' })
    .getByRole('button', { name: 'Bring back' })
    .click()
  await eventually(
    'only this one',
    () => bo.changes(),
    (changes) => changes.length === 1 && changes[0].includes('burned'),
  )
  await ana.page.getByRole('button', { name: 'Bin' }).click()
  await bo.page.getByText('1 of 2 changes left').waitFor()
  await bo.page.getByRole('button', { name: 'Reject 1 change…' }).click()
  await bo.page.locator('.reason button[type=submit]').click()
  await waits(ana, 'rejected once more', 0)
}

/** Applied at once, said on the page, and undone from the card, also after a reload. */
async function withoutApprovals(ana, bo) {
  await ana.page.getByRole('button', { name: 'Review settings' }).click()
  await ana.page.getByRole('checkbox', { name: /^Require approval If/ }).click()
  await bo.page.getByText('Approvals are off.').waitFor()
  await ana.page.keyboard.press('Escape')
  const before = await ana.text()
  await bo.ask('Shorten the end')
  await eventually(
    'applied at once',
    () => ana.text(),
    (text) => text !== before && text.includes('The boat was back'),
  )
  await ana.page.reload()
  const undo = ana.page
    .locator('.card')
    .first()
    .getByRole('button', { name: /^Undo \d+ changes?$/ })
  await undo.waitFor()
  await accessible(ana, 'approvals off')
  await ana.screenshot('decisions-6-approvals-off')
  await undo.click()
  await reads(bo, 'undone', before)
  await ana.page.getByRole('button', { name: 'Turn approvals on' }).click()
  await bo.page.getByText('Approvals are off.').waitFor({ state: 'detached' })
}

/** A reason that is being written is offered back, too, when somebody else decides. */
async function reasonOvertaken(ana, bo) {
  await eventually(
    'changes again',
    () => ana.changes(),
    (changes) => changes.length > 0,
  )
  const words = (await ana.changes())[0]
  await ana.choose(1)
  await ana.page
    .locator('.hunk-row.is-active')
    .getByRole('button', { name: /^Add a reason/ })
    .click()
  // The field has the keyboard.
  await ana.page.locator('.reason .field').waitFor()
  await ana.page.keyboard.type('It was better before')
  await choose(bo, words.trim())
  await bo.bar('Accept')
  const kept = ana.page.locator('.orphans')
  await eventually(
    'who was faster',
    () => kept.locator('.card-note').textContent(),
    (said) => /^Accepted by Owner \(as Bo\), .* while you were writing why not\.$/.test(said),
  )
  same('the reason kept', await kept.locator('blockquote').textContent(), 'It was better before')
  await kept.getByRole('button', { name: 'Discard' }).click()
  await kept.waitFor({ state: 'detached' })
}
