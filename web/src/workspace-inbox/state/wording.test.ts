import { expect, it } from 'vitest'
import type { PreviewKind } from '../../wire/generated.ts'
import {
  againWords,
  outcomeOf,
  overwriteQuestion,
  scopeOf,
  undoneWords,
  verbsFor,
} from './wording.ts'

const card = (
  tool_name: string,
  file_path: string | null = null,
  preview_data: unknown = {},
  preview_type: PreviewKind = 'generic',
) => ({ tool_name, file_path, preview_type, preview_data })

it('names a card so that it is told from the others by ear', () => {
  expect(scopeOf(card('Write', 'src/a.txt'))).toBe('Write src/a.txt')
  expect(scopeOf(card('ExitPlanMode'))).toBe('Plan')
  expect(scopeOf(card('Bash', null, { command: 'echo a;\n  rm b' }, 'command'))).toBe(
    'command: echo a; rm b',
  )
  expect(scopeOf(card('Bash', null, { command: 'x'.repeat(80) }, 'command'))).toBe(
    `command: ${'x'.repeat(60)}…`,
  )
  expect(scopeOf(card('str_replace_based_edit_tool', 'Notes', { command: 'view' }))).toMatch(
    / Notes$/,
  )
  expect(scopeOf(card('Write', 'a\u202etxt.exe'))).toBe('Write a⟨U+202E⟩txt.exe')
})

it('says who decided, and of a rule or a failure only what became of it', () => {
  const bo = { id: 'b', name: 'Bo' }
  expect(outcomeOf({ status: 'approved', by: bo, rule: null, unasked: null })).toBe(
    'Approved by Bo',
  )
  expect(outcomeOf({ status: 'rejected', by: bo, rule: null })).toBe('Rejected by Bo')
  expect(outcomeOf({ status: 'approved', by: bo, rule: 'rul_1', unasked: null })).toBe('Approved')
  expect(outcomeOf({ status: 'approved', by: bo, rule: null, unasked: 'bypass' })).toBe('Approved')
  expect(outcomeOf({ status: 'failed', by: bo, rule: null, unasked: null })).toBe('Failed')
  expect(outcomeOf({ status: 'expired', by: null, rule: null, unasked: null })).toBe('Expired')
})

it('runs commands and approves the rest', () => {
  expect([
    verbsFor({ preview_type: 'command' }).approve,
    verbsFor({ preview_type: 'diff' }).approve,
  ]).toEqual(['Run', 'Approve'])
})

const undone = (forced: boolean) => ({
  aftermath: {
    can_undo: false,
    can_reopen: true,
    undone: { by: { id: 'b', name: 'Bo' }, at: '2026-01-01T10:00:00Z', forced },
  },
})

it('says who took a call back, and when', () => {
  const now = Date.parse('2026-01-01T10:05:00Z')
  expect(undoneWords(undone(false), now)).toBe('Undone by Bo, 5 min ago')
  expect(undoneWords(undone(true), now)).toBe(
    'Undone by Bo, 5 min ago, over what was changed since',
  )
  expect([
    undoneWords({}, now),
    undoneWords({ aftermath: { can_undo: true, can_reopen: false } }, now),
  ]).toEqual([null, null])
})

it('says of what is proposed again what became of it before, as far as that is known', () => {
  const rejected = { status: 'rejected' as const, by: { id: 'b', name: 'Bo' }, rule: null }
  expect(againWords(rejected)).toBe('Again: rejected by Bo before')
  expect(againWords({ ...rejected, status: 'approved', ...undone(false) })).toBe(
    'Again: undone by Bo before',
  )
  expect(againWords({ ...rejected, status: 'expired', by: null })).toBe('Again: expired before')
  expect(againWords(undefined)).toBe('Again: proposed before')
})

it('asks before it overwrites what somebody changed, and before it takes a new file away', () => {
  expect(
    overwriteQuestion({ original_content: 'old' }, { file_path: 'notes.md', exists: true }),
  ).toBe('notes.md was changed since. Put the old content back anyway?')
  expect(
    overwriteQuestion({ original_content: null }, { file_path: 'notes.md', exists: true }),
  ).toBe('notes.md was changed since. Take it away anyway?')
  expect(
    overwriteQuestion({ original_content: 'old' }, { file_path: 'notes.md', exists: false }),
  ).toBe('notes.md is no longer there. Put the old content back anyway?')
})
