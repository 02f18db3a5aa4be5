// An owner looks after the server: sees what goes on and what it costs, stops a run, sets a limit
// that then holds, takes an access back, and deletes a person.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  PHONE,
  Writer,
  accessible,
  begin,
  eventually,
  holds,
  press,
  same,
  story,
  tokenFor,
  written,
} from './support.mjs'

/**
 * A model with a price: an answer costs $1.25, whatever was asked. What is asked slowly is answered
 * never.
 */
const USAGE = { input_tokens: 1_000, output_tokens: 250 }
const PRICE = '{ input = 0, cached = 0, written = 0, output = 5_000 }'

await story(async (keep) => {
  const provider = keep(await startProvider())
  const prices = join(mkdtempSync(join(tmpdir(), 'copydesk-prices-')), 'prices.toml')
  writeFileSync(prices, `[models]\nstory = ${PRICE}\n`)
  Object.assign(process.env, {
    COPYDESK_MODEL: 'anthropic:story',
    COPYDESK_PRICES: prices,
    ANTHROPIC_API_KEY: 'sk-story',
    ANTHROPIC_BASE_URL: provider.url,
  })
  const { server, browser, ana } = await begin(keep)
  await written(ana, 'The lamp was burning all through the night.', 'A note about a lamp')
  const address = new URL(ana.page.url()).pathname
  await ana.ask('What is this?')
  await ana.page.getByText('As you like.').waitFor()

  const token = tokenFor(server, 'Bo', 'editor')
  const bo = await arrive(browser, `${server.url}${address}#token=${token}`, 'Bo')
  await bo.ask('Do this slowly')

  // The page is reached from the list of documents, by the keyboard too.
  await ana.page.getByRole('link', { name: 'All documents' }).click()
  await ana.page.getByRole('link', { name: 'Server' }).focus()
  await press(ana, 'Enter')
  await ana.page.getByRole('heading', { name: 'Server', exact: true }).waitFor()
  await ana.page.getByText('$1.25', { exact: true }).first().waitFor()
  const runs = () =>
    ana.page.getByRole('list', { name: 'Runs in progress' }).getByRole('listitem').allInnerTexts()
  await eventually('the run of Bo', runs, (lines) => lines.length === 1 && /^Bo\b/.test(lines[0]))
  await accessible(ana, 'the page of the server')
  await ana.screenshot('server-1-light')

  // A run of somebody else is stopped.
  await ana.page
    .getByRole('button', { name: 'Stop the run of Bo about A note about a lamp' })
    .focus()
  await press(ana, 'Enter')
  await eventually('no runs', runs, (lines) => lines.length === 0)

  // A limit: what is none is said, and one that is set holds at once.
  const change = ana.page.getByRole('button', { name: / for Bo$/ })
  await change.focus()
  await press(ana, 'Enter')
  const form = ana.page.getByRole('form', { name: 'Monthly limit of Bo' })
  await form.getByLabel('Dollars a month').fill('much')
  await press(ana, 'Enter')
  await form.getByRole('alert').waitFor()
  await accessible(ana, 'a limit that is none')
  await ana.screenshot('server-2-limit')
  await form.getByLabel('Dollars a month').fill('0.5')
  await press(ana, 'Enter')
  await change.filter({ hasText: 'Limit $0.50' }).waitFor()
  await bo.ask('What is this?')
  // Bo has seen the answer to Ana too, so the end of his own run is waited for.
  await eventually(
    'the answer to Bo',
    async () => [provider.answered(), await bo.page.locator('.dots').count()],
    ([answered, working]) => answered === 2 && working === 0,
  )
  await bo.ask('And now?')
  await bo.page.getByText('Your spending limit ($0.50 a month) is reached').waitFor()
  same('calls of the model', provider.answered(), 2)
  await ana.page.reload()
  // The stopped run is a call too: the model had been asked.
  await ana.page.getByText('$1.25 of $0.50 this month · 2 calls').waitFor()

  // Of a document that nothing was spent on yet, and of the whole server.
  await ana.page.getByRole('button', { name: 'Set a limit for the whole server' }).click()
  await ana.page.getByLabel('Dollars a month').fill('10')
  await press(ana, 'Enter')
  await ana.page.getByText('$2.50 of $10.00').waitFor()

  for (const [name, options] of [
    ['server-3-phone', { ...PHONE, colorScheme: 'light' }],
    ['server-4-phone-dark', { ...PHONE, colorScheme: 'dark' }],
    ['server-5-dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }],
  ]) {
    const other = await Writer.arrive(browser, server, 'Ana', options)
    await other.page.getByRole('link', { name: 'Server' }).click()
    await other.page.getByText('$2.50 of $10.00').waitFor()
    await other.page.getByText(/ in \d+ updates?/).waitFor()
    await accessible(other, name)
    await other.page.setViewportSize({ width: options.viewport.width, height: 1900 })
    await other.screenshot(name)
    same(`errors in ${name}`, other.errors, [])
    await other.page.context().close()
  }

  // Bo has nothing to look for here, and then no access at all.
  await bo.page.goto(`${server.url}/server`)
  await bo.page.getByRole('heading', { name: 'This page is for owners' }).waitFor()
  await accessible(bo, 'the page of the server for somebody else')
  await ana.page.getByRole('button', { name: 'Revoke the access of Bo as editor' }).click()
  await accessible(ana, 'the confirmation')
  await ana.page.getByRole('button', { name: 'Revoke access' }).click()
  await bo.page.getByRole('heading', { name: 'Your access was taken back' }).waitFor()
  await ana.page.getByText('Without access (1)').waitFor()
  holds(
    'Bo is not among those with access',
    (await active(ana)).every((line) => !/^Bo\b/.test(line)),
  )

  // What is stored of Bo is shown, and then deleted.
  await ana.page.getByText('Without access (1)').click()
  await ana.page.getByRole('button', { name: 'Delete the data of Bo' }).focus()
  await press(ana, 'Enter')
  const dialog = ana.page.getByRole('dialog', { name: 'Delete Bo?' })
  await dialog.getByText('Stay as they are').waitFor()
  await accessible(ana, 'the dialog that deletes a person')
  await ana.screenshot('server-6-delete')
  await dialog.getByRole('button', { name: 'Delete for ever' }).click()
  await ana.page.getByText('The data of Bo was deleted.').waitFor()
  const former = ana.page.getByRole('list', { name: 'People without access' })
  await eventually(
    'the neutral name',
    () => former.locator('> li b').allInnerTexts(),
    (names) => names.length === 1 && names[0] === 'Deleted person',
  )
  same('buttons that delete', await former.getByRole('button', { name: /^Delete/ }).count(), 0)
  same('errors in the pages', [...ana.errors, ...bo.errors], [])
})

function active(writer) {
  const people = writer.page.getByRole('list', { name: 'People with access' })
  return people.locator('> li').allInnerTexts()
}

async function arrive(browser, link, name) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const writer = new Writer(await context.newPage(), name)
  writer.page.on('pageerror', (error) => writer.errors.push(error.stack))
  await writer.page.goto(link)
  await writer.page.locator('.cm-content').waitFor()
  return writer
}

/** A provider of the Messages API. */
async function startProvider() {
  let answered = 0
  const frame = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify({ data: [] }))
    let body = ''
    for await (const piece of request) body += piece
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const { messages } = JSON.parse(body)
    // A question without an answer stays before the next one, in the same message.
    const newest = JSON.stringify(messages.at(-1).content.at(-1))
    if (newest.includes('slowly')) return response.flushHeaders()
    answered++
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'story' }
    const events = [
      { type: 'message_start', message: { ...message, stop_reason: null, usage: USAGE } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'As you like.' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE },
      { type: 'message_stop' },
    ]
    response.end(events.map(frame).join(''))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    answered: () => answered,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
