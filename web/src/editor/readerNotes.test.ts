import { expect, it } from 'vitest'
import { readerNote, writes } from './readerNotes.ts'

const key = (name: string, more = {}) =>
  writes({ key: name, ctrlKey: false, metaKey: false, altKey: false, ...more })

it('takes for writing what would change the text, and nothing else', () => {
  expect(['a', 'ü', '🔴', 'Enter', 'Backspace', 'Delete'].map((it) => key(it))).toEqual(
    Array(6).fill(true),
  )
  expect(['ArrowLeft', 'F8', 'Tab', 'Escape', 'Shift'].some((it) => key(it))).toBe(false)
  expect(key('c', { ctrlKey: true }) || key('Enter', { metaKey: true })).toBe(false)
})

it('says what somebody may do instead', () => {
  expect(readerNote('reviewer')).toContain('review')
  expect(readerNote('viewer')).toContain('read this text')
})
