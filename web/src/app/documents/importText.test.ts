import { expect, it } from 'vitest'
import { textIn } from './importText.ts'
import { titleFor } from './title.ts'

const bytes = (...values: number[]) => new Uint8Array(values).buffer

it('names a document after its heading, or its file', () => {
  expect(titleFor('letter.md', '# The *long* night #\r\n\nIt was cold.')).toBe('The long night')
  expect(titleFor('letter.v2.md', 'It was cold.\n# Later')).toBe('letter.v2')
  expect(titleFor('notes', '#tag')).toBe('notes')
  expect([...titleFor('a.md', `# ${'🌙'.repeat(300)}`)]).toHaveLength(200)
})

it('takes texts only', () => {
  expect(textIn(bytes(0xc3, 0xa9))).toBe('é')
  expect(textIn(bytes(0xff, 0xfe, 0x41))).toBeNull()
  expect(textIn(bytes(0x50, 0x4b, 0x03, 0x00))).toBeNull()
})
