import { expect, test } from 'vitest'
import { type Drawn, drawMarkdown } from './Markdown.tsx'

/** As it would be read aloud, with what it is in brackets. */
function flat(drawn: Drawn): string {
  if (typeof drawn === 'string') return drawn
  const { children = [] } = drawn.props as { children?: Drawn | Drawn[] }
  const words = [children].flat().map(flat).join('')
  const kind = drawn.type === 'a' ? 'link' : String(drawn.type)
  return words === '' ? `[${kind}]` : `[${kind} ${words}]`
}

const read = (source: string) => drawMarkdown(source).map(flat).join('')

test('a plan is read as headings, lists and words', () => {
  expect(read('# Plan\n\n1. Cut the *first* line\n2. Keep `this`\n\nThen **stop**.')).toBe(
    '[h3 Plan][ol [li [p Cut the [em first] line]][li [p Keep [code this]]]][p Then [strong stop].]',
  )
})

test('code stands as it is', () => {
  expect(read('```sh\nrm -rf *\n```')).toBe('[pre rm -rf *]')
})

test('tables and tasks are read as such', () => {
  expect(read('| a | b |\n|---|---|\n| 1 | **2** |')).toBe(
    '[table [tr [th a][th b]][tr [td 1][td [strong 2]]]]',
  )
  expect(read('- [x] ~~done~~\n- [ ] open')).toBe('[ul [li [p ☑ [del done]]][li [p ☐ open]]]')
})

test('only addresses of the web are links', () => {
  expect(read('[a](https://example.org)')).toBe('[p [link a]]')
  expect(read('[a](javascript:alert(1))')).toBe('[p [a](javascript:alert(1))]')
})

test('HTML and pictures are shown as they are written', () => {
  expect(read('<img src=x onerror=alert(1)>')).toBe('<img src=x onerror=alert(1)>')
  expect(read('![a](https://example.org/a.png)')).toBe('[p ![a](https://example.org/a.png)]')
})
