// Words are composed with an input method while somebody else edits the same paragraph: each is
// there once, and everybody has the same text.
import { editText, idOf, textOf } from './rest.mjs'
import { begin, eventually, same, saved, story, written } from './support.mjs'

/** A text, the place of the caret, and what others do to the text, one after the other. */
const CASES = [
  [
    'at both ends',
    'start  end',
    6,
    [
      ['start', 'START now'],
      ['end', 'END'],
    ],
  ],
  ['in front', 'start  end', 6, [['start ', 'start and ']]],
  ['the line above goes', 'above\nstart  end', 12, [['above\n', '']]],
  ['elsewhere', 'one\n\nstart  end', 11, [['one', 'ONE MORE']]],
]

await story(async (keep) => {
  const { server, ana } = await begin(keep)
  await written(ana, 'A note', 'A note')
  const id = idOf(ana.page.url())
  const session = await ana.page.context().newCDPSession(ana.page)
  for (const [what, text, caret, changes] of CASES) {
    const waiting = [...changes]
    await editText(server, id, () => text)
    await eventually(
      what,
      () => ana.text(),
      (now) => now === text,
    )
    await ana.caret(caret)
    for (const signs of ['n', 'に', 'にh', 'にほ', 'にほn', 'にほん']) {
      const at = signs.length
      await session.send('Input.imeSetComposition', {
        text: signs,
        selectionStart: at,
        selectionEnd: at,
      })
      const change = signs.length > 1 ? waiting.shift() : undefined
      if (change) await editText(server, id, (now) => now.replace(...change))
      await ana.page.waitForTimeout(150)
    }
    // What does not disturb is not held back.
    if (what === 'elsewhere') same(what, (await ana.text()).startsWith('ONE MORE'), true)
    await session.send('Input.insertText', { text: '日本' })
    await ana.page.keyboard.type('x')
    const expected = changes.reduce(
      (now, change) => now.replace(...change),
      `${text.slice(0, caret)}日本x${text.slice(caret)}`,
    )
    await eventually(
      `${what}: the text`,
      () => ana.text(),
      (now) => now === expected,
    )
    await saved(ana)
    same(`${what}: on the server`, await textOf(server, id), await ana.text())
  }
  await rejoining(ana, server, id, session)
  same('errors', ana.errors, [])
})

/** The connection breaks and is back in the middle of a word, and others have written meanwhile. */
async function rejoining(ana, server, id, session) {
  const text = 'start  end'
  await editText(server, id, () => text)
  await eventually(
    'the text to rejoin with',
    () => ana.text(),
    (now) => now === text,
  )
  await ana.caret(6)
  const compose = (signs) =>
    session.send('Input.imeSetComposition', {
      text: signs,
      selectionStart: signs.length,
      selectionEnd: signs.length,
    })
  await compose('に')
  await server.kill()
  await server.start()
  await editText(server, id, (now) => now.replace('start', 'START'))
  await editText(server, id, (now) => now.replace('end', 'END'))
  await compose('にほ')
  await ana.page.waitForTimeout(3_000)
  await compose('にほん')
  await session.send('Input.insertText', { text: '日本' })
  await eventually(
    'the word after rejoining',
    () => ana.text(),
    (now) => now === 'START 日本 END',
  )
  await saved(ana)
  same('the word on the server', await textOf(server, id), 'START 日本 END')
}
