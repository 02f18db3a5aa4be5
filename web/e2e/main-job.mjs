// The main job: ask for a grammar fix, accept three changes, reject one with a reason, edit one; a
// second browser sees each step; after kill -9 and a restart the text, the pending changes and the
// transcript are as they were.
import {
  Server,
  Writer,
  accessible,
  eventually,
  holds,
  same,
  saved,
  startBrowser,
  story,
} from './support.mjs'

const TITLE = new RegExp(process.env.COPYDESK_STORY_DOCUMENT ?? 'Keeper')

await story(async (keep) => {
  const server = keep(await Server.start(process.env.COPYDESK_DATA, process.env.COPYDESK_MODEL))
  const browser = keep(await startBrowser())
  const ana = await Writer.open(browser, server, 'Ana', TITLE, { colorScheme: 'light' })
  const bo = await Writer.open(browser, server, 'Bo', TITLE, { colorScheme: 'dark' })
  const before = await ana.text()
  same('the texts at the start', before, await bo.text())
  await ana.screenshot('1-open')

  // A wish that the built-in editor cannot serve ends nothing.
  for (const [prompt, answer] of [
    ['Make it warmer', /I am the built-in copy editor/],
    ['Then make it sadder', /^That takes a language model, too/],
  ]) {
    await ana.ask(prompt)
    await ana.page.locator('.answer', { hasText: answer }).waitFor({ timeout: 60_000 })
  }
  await ana.ask('Fix the grammar')
  const proposed = await eventually(
    'ten changes',
    () => ana.changes(),
    (changes) => changes.length >= 10,
    60_000,
  )
  await eventually(
    'the same changes in the second browser',
    () => bo.changes(),
    (changes) => changes.length === proposed.length,
  )
  same('the text before anybody accepted', await ana.text(), before)
  await ana.screenshot('2-proposed')

  const step = async (what, act, { changesText }) => {
    const text = await ana.text()
    const left = (await ana.changes()).length
    await act()
    await eventually(
      `${what}: one change less`,
      () => ana.changes(),
      (changes) => changes.length === left - 1,
    )
    await eventually(
      `${what}: in the second browser`,
      () => bo.changes(),
      (changes) => changes.length === left - 1,
    )
    const now = await ana.text()
    holds(`${what}: the text ${changesText ? 'changes' : 'stays'}`, (now !== text) === changesText)
    await eventually(
      `${what}: the same text in both`,
      () => bo.text(),
      (other) => other === now,
    )
  }

  await step('accepting in the bar', () => ana.bar('Accept'), { changesText: true })
  await step(
    'accepting by key',
    async () => {
      // From where a person is who has just asked: F8 leads into the text, to the active change.
      await ana.page.locator('#composer').focus()
      await ana.page.keyboard.press('F8')
      await ana.page.keyboard.press('Control+Enter')
    },
    { changesText: true },
  )
  await step(
    'accepting in the other browser',
    async () => {
      // The change that he had before him was decided meanwhile.
      await bo.choose(1)
      await bo.bar('Accept')
    },
    { changesText: true },
  )
  await accessible(ana, 'changes that were accepted')
  await ana.screenshot('3-accepted')

  await step(
    'rejecting with a reason',
    async () => {
      await ana.choose(2)
      await ana.page
        .locator('.hunk-row.is-active')
        .getByRole('button', { name: /^Add a reason/ })
        .click()
      await ana.page.getByRole('button', { name: 'Keep my wording' }).click()
      await ana.page.getByLabel('Reason in your own words').fill('It is how she speaks')
      await ana.page.getByText('What the AI will be told').click()
      await eventually(
        'what the AI will be told',
        () => ana.page.locator('.told pre').textContent(),
        (told) =>
          told.includes('User feedback: Keep my wording. It is how she speaks') &&
          told.includes('- rejected: '),
      )
      await ana.screenshot('4-reason')
      await ana.page.locator('.reason button[type=submit]').click()
    },
    { changesText: false },
  )

  await step(
    'editing before accepting',
    async () => {
      await ana.choose(3)
      await ana.bar('Edit')
      await ana.page.locator('.hunk-edit textarea').fill('the writer’s own words')
      await ana.screenshot('5-edit')
      await ana.page.getByRole('button', { name: 'Accept edited' }).click()
    },
    { changesText: true },
  )
  holds('the edited words stand in the text', (await bo.text()).includes('the writer’s own words'))
  await ana.screenshot('6-decided')
  await bo.screenshot('6-decided-second-browser')

  const seen = {
    text: await ana.text(),
    changes: await ana.changes(),
    transcript: await ana.transcript(),
  }
  await server.kill()
  await ana.page.locator('.netbar').waitFor()
  await ana.page.locator('.cm-content').focus()
  await ana.page.keyboard.press('Control+End')
  await ana.page.keyboard.type('Typed while the server was away.')
  await ana.screenshot('7-server-gone')
  await server.start()
  await ana.page.locator('.netbar').waitFor({ state: 'detached', timeout: 20_000 })
  const text = `${seen.text}Typed while the server was away.`
  await eventually(
    'words typed meanwhile arrive',
    () => bo.text(),
    (now) => now === text,
    20_000,
  )
  await saved(ana)
  same('the pending changes after the restart', await ana.changes(), seen.changes)

  await ana.page.reload()
  await ana.page.locator('.hunk-row').first().waitFor()
  same('the text after the restart', await ana.text(), text)
  same('the pending changes after the restart', await ana.changes(), seen.changes)
  const beforeRestart = JSON.stringify(seen.transcript)
  await eventually(
    `the transcript after the restart is ${beforeRestart}`,
    () => ana.transcript(),
    (transcript) => JSON.stringify(transcript) === beforeRestart,
    20_000,
  )
  await ana.screenshot('8-restarted')

  await ana.acceptAll()
  await eventually(
    'nothing left to review',
    () => bo.changes(),
    (changes) => changes.length === 0,
  )
  await eventually(
    'the same text in both',
    async () => [await ana.text(), await bo.text()],
    ([a, b]) => a === b,
  )
  await eventually(
    'the run ends after the restart',
    () => ana.transcript(),
    ([first]) => first?.decided.some((line) => /\d+ accepted, 1 rejected/.test(line)),
    20_000,
  )
  await ana.screenshot('9-done')
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})
