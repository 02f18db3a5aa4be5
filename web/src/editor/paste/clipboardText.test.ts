import { expect, test } from 'vitest'
import { apart, isRich } from './clipboardText.ts'

test('only what has a structure is more than its plain text', () => {
  const html = ['text/html', 'text/plain']
  expect(isRich('<p>One paragraph, <span style="color:red">red</span>.</p>', html)).toBe(false)
  expect(isRich('<p>One.</p><p>Two.</p>', html)).toBe(true)
  expect(isRich('A <a title="x" href="https://a.example">link</a>', html)).toBe(true)
  expect(isRich('<span style="font-weight: 700">bold</span>', html)).toBe(true)
  expect(isRich('<div>Harbour Road 5<br>Kessel</div>', html)).toBe(true)
  expect(isRich('one<br class="Apple-interchange-newline">', html)).toBe(false)
  expect(isRich('see <code>a_b</code>', html)).toBe(true)
  expect(isRich('<b>x</b>', [...html, 'vscode-editor-data'])).toBe(false)
  const listing = `<meta charset='utf-8'><div style="color: #000;font-family: Menlo, 'Courier New', monospace;white-space: pre;"><div><span style="font-weight: bold;">let</span> x</div></div>`
  expect(isRich(listing, html)).toBe(false)
  expect(isRich('<pre style="font-family: monospace; white-space: pre;">let x</pre>', html)).toBe(
    true,
  )
})

test('blocks stand apart from the words around them, and words do not', () => {
  expect(apart('**lamp**', 'The ', ' burned')).toBe('**lamp**')
  expect(apart('# Title', 'Before', ' after')).toBe('\n\n# Title\n\n')
  expect(apart('one\n\ntwo', '', '  ')).toBe('one\n\ntwo')
})
