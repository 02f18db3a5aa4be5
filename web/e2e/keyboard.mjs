// A document reviewed by keyboard alone: after every step the keyboard is where the next one is
// made, and no letter goes astray.
import { Writer, begin, eventually, holds, press, reads, same, story, waits } from './support.mjs'

const NOTE =
  'The lamp was burning all night.\n\nNobody had ever noticed it.\n\nThe boat had come home.'

/** Where the keyboard is, in words. */
const place = (writer) =>
  writer.page.evaluate(() => {
    const at = document.activeElement
    if (at.matches('.cm-content')) return 'the text'
    if (at.matches('[data-review-bar]')) return 'the bar'
    if (at.closest('.hunk-edit')) return 'the edit'
    if (at.closest('.reason')) return 'the reason'
    if (at.closest('dialog')) return 'the sheet'
    return `${at.tagName} ${at.getAttribute('aria-label') ?? ''}`.trim()
  })
const isIn = (writer, where, after) =>
  eventually(
    `where the keyboard is ${after}`,
    () => place(writer),
    (now) => now === where,
  )
const active = (writer) =>
  writer.page.evaluate(
    () =>
      [...document.querySelectorAll('.hunk-row')].findIndex((row) => row.matches('.is-active')) + 1,
  )
const isAt = (writer, number, after) =>
  eventually(
    `the change one is at ${after}`,
    () => active(writer),
    (now) => now === number,
  )
const caret = (writer) =>
  writer.page.evaluate(
    () => document.querySelector('.cm-content').cmTile.view.state.selection.main.head,
  )

await story(async (keep) => {
  const { server, browser, ana } = await begin(keep, {})
  await ana.page.getByRole('button', { name: 'New document' }).click()
  await ana.page.locator('.cm-content').click()
  await ana.page.keyboard.insertText(NOTE)

  await fromTheCaret(ana)
  await afresh(ana)
  await chords(ana)
  await afresh(ana)
  await letters(ana)
  await afresh(ana)
  await hasty(ana)
  await afresh(ana)
  await overtaken(browser, server, ana)
  same('errors in the pages', ana.errors, [])
})

async function afresh(ana) {
  await press(ana, 'Control+a')
  await press(ana, 'Delete')
  await waits(ana, 'nothing to review', 0)
  await ana.page.keyboard.insertText(NOTE)
}

/** Asked for from the keyboard, and entered by F8. */
async function proposed(ana) {
  await press(ana, 'Control+k')
  await isIn(ana, 'TEXTAREA', 'after Ctrl+K')
  await ana.page.keyboard.type('Tighten it')
  await press(ana, 'Enter')
  await waits(ana, 'three changes', 3)
  await press(ana, 'F8')
  await isIn(ana, 'the text', 'after F8 from the composer')
  await isAt(ana, 1, 'after F8 from the composer')
}

/** In the text, F8 goes to the first change from the caret on, and then to the next. */
async function fromTheCaret(ana) {
  const begin = async (at) => {
    await press(ana, 'Control+k')
    await isIn(ana, 'TEXTAREA', 'after Ctrl+K')
    await ana.page.keyboard.type('Tighten it')
    await press(ana, 'Enter')
    await waits(ana, 'three changes', 3)
    await ana.caret(at)
  }
  await begin(0)
  await press(ana, 'F8')
  await isAt(ana, 1, 'after F8 at the beginning')
  await press(ana, 'F8')
  await isAt(ana, 2, 'after F8 at a change')
  await afresh(ana)
  await begin(NOTE.indexOf('The boat'))
  await press(ana, 'F8')
  await isAt(ana, 3, 'after F8 in the last paragraph')
}

/** In the text the chords decide, and one never leaves it. */
async function chords(ana) {
  await proposed(ana)
  await press(ana, 'F8')
  await isAt(ana, 2, 'after F8')
  await press(ana, 'Shift+F8')
  await isAt(ana, 1, 'after Shift+F8')
  const before = await caret(ana)
  same('the caret after F8', before, NOTE.indexOf('was burning'))

  await press(ana, 'Alt+Enter')
  await isIn(ana, 'the edit', 'after Alt+Enter')
  await press(ana, 'Escape')
  await isIn(ana, 'the text', 'after Esc out of an edit')
  same('the caret', await caret(ana), before)

  await press(ana, 'Alt+Enter')
  await isIn(ana, 'the edit', 'after Alt+Enter')
  await press(ana, 'Control+a')
  await ana.page.keyboard.type('The lamp glowed all night.')
  await press(ana, 'Control+Enter')
  await waits(ana, 'two changes left', 2)
  await isIn(ana, 'the text', 'after an edit was sent')
  holds('her own words are in the text', (await ana.text()).includes('The lamp glowed all night.'))
  await press(ana, 'Control+Enter')
  await waits(ana, 'one change left', 1)
  await isIn(ana, 'the text', 'after Ctrl+Enter')
  await press(ana, 'Control+Shift+Enter')
  await waits(ana, 'nothing left', 0)
  await isIn(ana, 'the text', 'after Ctrl+Shift+Enter')
  await reads(
    ana,
    'what was decided',
    'The lamp glowed all night.\n\nNobody ever saw it.\n\nThe boat had come home.',
  )
}

/** Esc leads to the bar; there letters do it, and one comes back to it. */
async function letters(ana) {
  const { page } = ana
  await proposed(ana)
  await press(ana, 'Escape')
  await isIn(ana, 'the bar', 'after Esc')
  await press(ana, 'j')
  await isAt(ana, 2, 'after J')
  await press(ana, 'k')
  await isAt(ana, 1, 'after K')
  await isIn(ana, 'the bar', 'after K')
  await press(ana, '?')
  await isIn(ana, 'the sheet', 'after ?')
  await press(ana, 'Escape')
  await isIn(ana, 'the bar', 'after Esc out of the sheet')

  await press(ana, 'e')
  await isIn(ana, 'the edit', 'after E')
  await press(ana, 'Escape')
  await isIn(ana, 'the bar', 'after Esc out of an edit')
  await press(ana, 'e')
  await isIn(ana, 'the edit', 'after E')
  await press(ana, 'Control+a')
  await page.keyboard.type('The lamp shone all night.')
  await press(ana, 'Control+Enter')
  await waits(ana, 'two changes left', 2)
  await isIn(ana, 'the bar', 'after an edit was sent')
  await reads(ana, 'her own words', NOTE.replace('was burning', 'shone'))

  await press(ana, 'u')
  await waits(ana, 'three changes again', 3)
  await isIn(ana, 'the bar', 'after U')
  await reads(ana, 'the first words', NOTE)
  await isAt(ana, 1, 'after U')
  // With the edit that is kept.
  await press(ana, 'a')
  await waits(ana, 'two changes left', 2)
  await isIn(ana, 'the bar', 'after A')
  // By the bar's own button, too.
  await page.getByRole('button', { name: /^Reject change \d+$/ }).focus()
  await press(ana, 'Enter')
  await waits(ana, 'one change left', 1)
  await isIn(ana, 'BUTTON Reject change 1', 'after the button')
  await press(ana, 'Escape')
  await isIn(ana, 'the text', 'after Esc in the bar')
  await press(ana, 'Escape')
  await isIn(ana, 'the bar', 'after Esc in the text')

  // Held down, the letter decides once; the keyboard stays in the bar, and further letters are not
  // written.
  await page.keyboard.down('a')
  for (let more = 0; more < 5; more++) await page.keyboard.down('a')
  await page.keyboard.up('a')
  await waits(ana, 'nothing left', 0)
  await isIn(ana, 'the bar', 'after the last change')
  await page.keyboard.type('jkare')
  await reads(
    ana,
    'what was decided',
    'The lamp shone all night.\n\nNobody had ever noticed it.\n\nThe boat came home.',
  )
  await press(ana, 'u')
  await waits(ana, 'the last change again', 1)
  await isIn(ana, 'the bar', 'after U')
  await press(ana, 'a')
  await waits(ana, 'nothing left again', 0)
  await isIn(ana, 'the bar', 'after the last change')
  await press(ana, 'Escape')
  await isIn(ana, 'the text', 'after Esc in the bar')
  await press(ana, 'Control+z')
  await waits(ana, 'the last change once more', 1)
  await isIn(ana, 'the text', 'after Ctrl+Z')
}

/** Words that are written and sent before the browser has drawn the field they are written into. */
async function hasty(ana) {
  await proposed(ana)
  await press(ana, 'Escape')
  await isIn(ana, 'the bar', 'after Esc')
  await ana.page.evaluate(async () => {
    const key = (name, ctrlKey = false) =>
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: name, ctrlKey, bubbles: true, cancelable: true }),
      )
    // Long enough for everything but a frame.
    const settled = async () => {
      for (let turn = 0; turn < 20; turn++) await null
    }
    key('e')
    await settled()
    document.execCommand('selectAll')
    document.execCommand('insertText', false, 'The lamp shone all night.')
    await settled()
    key('Enter', true)
  })
  await waits(ana, 'two changes left', 2)
  await reads(ana, 'her own words', NOTE.replace('was burning', 'shone'))
  await press(ana, 'Escape')
  await isIn(ana, 'the text', 'after Esc in the bar')
}

/**
 * A change that somebody else decides while one writes: what one types on is not taken for
 * decisions about the others.
 */
async function overtaken(browser, server, ana) {
  const bo = await Writer.open(browser, server, 'Bo', /./)
  await proposed(ana)
  await press(ana, 'Escape')
  await press(ana, 'e')
  await isIn(ana, 'the edit', 'after E')
  await ana.page.keyboard.type('glea')
  await waits(bo, 'the changes at Bo’s', 3)
  await bo.bar('Reject')
  await waits(ana, 'two changes left', 2)
  await ana.page.keyboard.type('ra')
  await press(ana, 'F8')
  await isIn(ana, 'the text', 'after F8')
  same('the changes that are left', (await ana.changes()).length, 2)
  await reads(bo, 'nothing was accepted', NOTE)
  same('errors in the pages', bo.errors, [])
}
