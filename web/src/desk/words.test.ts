import { expect, it } from 'vitest'
import { outcomeOf, scopeOf, verbsFor } from './words.ts'

const card = (tool_name: string, file_path: string | null = null, preview_data: unknown = {}) => ({ tool_name, file_path, preview_data })

it('names a card so that it is told from the others by ear', () => {
  expect(scopeOf(card('Write', 'src/a.txt'))).toBe('Write src/a.txt')
  expect(scopeOf(card('ExitPlanMode'))).toBe('Plan')
  expect(scopeOf(card('Bash', null, { command: 'echo a;\n  rm b' }))).toBe('Bash: echo a; rm b')
  expect(scopeOf(card('Bash', null, { command: 'x'.repeat(80) }))).toBe(`Bash: ${'x'.repeat(60)}…`)
  expect(scopeOf(card('Write', 'a\u202etxt.exe'))).toBe('Write a⟨U+202E⟩txt.exe')
})

it('says who decided, and of a rule or a failure only what became of it', () => {
  const bo = { id: 'b', name: 'Bo' }
  expect(outcomeOf({ status: 'approved', by: bo, rule: null, unasked: null })).toBe('Approved by Bo')
  expect(outcomeOf({ status: 'rejected', by: bo, rule: null })).toBe('Rejected by Bo')
  expect(outcomeOf({ status: 'approved', by: bo, rule: 'rul_1', unasked: null })).toBe('Approved')
  expect(outcomeOf({ status: 'approved', by: bo, rule: null, unasked: 'bypass' })).toBe('Approved')
  expect(outcomeOf({ status: 'failed', by: bo, rule: null, unasked: null })).toBe('Failed')
  expect(outcomeOf({ status: 'expired', by: null, rule: null, unasked: null })).toBe('Expired')
})

it('runs commands and approves the rest', () => {
  expect([verbsFor({ preview_type: 'command' }).approve, verbsFor({ preview_type: 'diff' }).approve]).toEqual(['Run', 'Approve'])
})
