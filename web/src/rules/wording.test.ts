import { describe, expect, it } from 'vitest'
import type { ToolApprovalRequest, Rule, Remember } from '../wire/generated.ts'
import { offered, RULED_IN_INBOX } from './tools.ts'
import {
  allowed,
  automatic,
  canRemember,
  flawOf,
  mayRevoke,
  meaning,
  patternsFor,
  reach,
  ruleOf,
  ruleWords,
  sizesInInbox,
  sizesFor,
} from './wording.ts'
import { whoseRule } from '../review/state/whoseRule.ts'

const request = (more: Partial<ToolApprovalRequest>) =>
  ({ units: 14, warnings: [], preview_type: 'diff', ...more }) as unknown as ToolApprovalRequest

describe('what a rule allows', () => {
  it('is offered in sizes the suggestion itself fits into', () => {
    expect(sizesFor(14)).toEqual([20, 50, 100])
    expect(sizesFor(20)).toEqual([20, 50, 100])
    expect(sizesFor(21)).toEqual([50, 100, 200])
    expect(sizesFor(1_000)).toEqual([1_000])
    expect(sizesFor(1_001)).toEqual([])
  })

  it('is not offered where no rule would ever apply', () => {
    expect(canRemember(request({}))).toBe(true)
    expect(canRemember(request({ units: null }))).toBe(false)
    expect(canRemember(request({ units: 5_000 }))).toBe(false)
    expect(canRemember(request({ preview_type: 'command' }))).toBe(false)
    expect(canRemember(request({ tool_name: 'ExitPlanMode' })), 'a plan').toBe(false)
    expect(canRemember(request({ warnings: [{ code: 'moved', text: 'Look twice.' }] }))).toBe(false)
  })

  it('is offered at the desk for what asks there and names a file, in sizes of files', () => {
    const desk = (more: Partial<ToolApprovalRequest>) =>
      request({ document_id: null, tool_name: 'Write', file_path: 'a.txt', units: 5_000, ...more })
    expect(canRemember(desk({}))).toBe(true)
    expect(canRemember(desk({ tool_name: 'create_new_document', file_path: 'A title' }))).toBe(true)
    const nevers: Partial<ToolApprovalRequest>[] = [
      { preview_type: 'command', tool_name: 'Bash' },
      { tool_name: 'ExitPlanMode' },
      { units: null },
      { file_path: '../a' },
      { warnings: [{ code: 'hidden', text: 'Look twice.' }] },
    ]
    for (const never of nevers) {
      expect(canRemember(desk(never))).toBe(false)
    }
    expect(sizesInInbox(14)).toEqual([100, 500, 2_000, undefined])
    expect(sizesInInbox(50_000)).toEqual([undefined])
  })

  it('is for a file, its like, its folder', () => {
    expect(patternsFor('./src/notes/a.txt')).toEqual([
      { pattern: 'src/notes/a.txt', words: 'only src/notes/a.txt' },
      { pattern: 'src/notes/*.txt', words: '.txt files in src/notes' },
      { pattern: 'src/notes/**', words: 'everything in src/notes' },
    ])
    expect(patternsFor('a.txt').map(({ pattern }) => pattern)).toEqual(['a.txt', '*.txt'])
    expect(patternsFor('.env').map(({ pattern }) => pattern)).toEqual(['.env'])
    // What would be read as a pattern means itself.
    expect(patternsFor('a[1]/{b}*.md').map(({ pattern }) => pattern)).toEqual([
      'a[[]1[]]/[{]b[}][*].md',
      'a[[]1[]]/*.md',
      'a[[]1[]]/**',
    ])
    expect([
      patternsFor('/etc/passwd'),
      patternsFor('a/../../b'),
      patternsFor('..'),
      patternsFor(null),
      patternsFor(''),
    ]).toEqual([[], [], [], [], []])
  })

  it('is named where it decided, and so is why nobody was asked', () => {
    const ana = { id: 'u1', name: 'Ana' }
    const rule = {
      id: 'rul_1',
      by: ana,
      effect: 'allow',
      tool: 'Write',
      remember: { scope: 'session', path: 'notes/**' },
    } as Rule
    expect(automatic('Approved', { rule: 'rul_1', by: ana }, 'u2', { rul_1: rule })).toEqual({
      how: 'Approved by Ana’s rule',
      why: 'Write in files like notes/**, of any size',
    })
    expect(automatic('Approved', { rule: 'rul_1', by: ana }, 'u1', {})).toEqual({
      how: 'Approved by your rule',
      why: '',
    })
    expect(automatic('Approved', { rule: null, by: ana, unasked: 'bypass' }, 'u2', {})).toEqual({
      how: 'Approved without asking',
      why: 'approvals were skipped, as Ana chose for this question',
    })
    expect(
      automatic('Accepted', { rule: null, by: ana, unasked: 'approvals_off' }, 'u1', {})?.why,
    ).toBe('approvals are off')
    expect(automatic('Accepted', { rule: null, by: ana, unasked: null }, 'u1', {})).toBeNull()
  })

  it('is said with tool, size and reach', () => {
    expect(allowed('update_full_document', { scope: 'document', max_units: 50 })).toBe(
      'Rewrite, at most 50 characters changed',
    )
    expect(allowed('Write', { scope: 'session', path: 'notes/*.md' })).toBe(
      'Write in files like notes/*.md, of any size',
    )
    expect(
      allowed('update_full_document', { scope: 'document', max_units: 50, unmarked: true }),
    ).toBe('Rewrite, at most 50 characters changed, only changes that keep the meaning')
    expect(reach({ scope: 'document' }, 'Ana')).toBe('whoever asks')
    expect(reach({ scope: 'session' }, 'Ana')).toContain('Ana')
    expect(reach({ scope: 'document', author: 'u1' }, 'Ana')).toBe('only what Ana asks for')
    expect(reach({ scope: 'document', author: 'u1' }, 'you')).toBe('only what you ask for')
  })

  it('belongs to somebody, who may take it back, as an owner may', () => {
    const ana = { id: 'u1', name: 'Ana' }
    expect([whoseRule(ana, 'u1'), whoseRule(ana, 'u2'), whoseRule(null, 'u2')]).toEqual([
      'your rule',
      'Ana’s rule',
      'a rule',
    ])
    const rule = { by: ana, effect: 'allow' } as Rule
    expect([
      mayRevoke(rule, 'u1', 'viewer'),
      mayRevoke(rule, 'u2', 'editor'),
      mayRevoke(rule, 'u2', 'owner'),
    ]).toEqual([true, false, true])
    expect(mayRevoke({ ...rule, effect: 'deny' }, 'u1', 'editor')).toBe(false)
  })

  it('says what is denied and what is always asked about', () => {
    const remember: Remember = { scope: 'document' }
    expect(ruleWords({ effect: 'deny', tool: '*', over: 200, remember })).toBe(
      'Denied: Every tool, more than 200 characters changed',
    )
    expect(
      ruleWords({ effect: 'ask', tool: 'Write', remember: { scope: 'workspace', path: '*.md' } }),
    ).toBe('Always asked about: Write in files like *.md, of any size')
    expect(ruleWords({ effect: 'allow', tool: 'update_full_document', remember })).toBe(
      'Rewrite, of any size',
    )
  })

  it('is made of what was chosen, or not at all, and says why not', () => {
    const choice = {
      effect: 'deny',
      tool: '',
      path: '',
      size: '',
      author: '',
      unmarked: false,
    } as const
    expect(ruleOf('doc', { ...choice, size: ' 200 ' })).toEqual({
      documentId: 'doc',
      effect: 'deny',
      over: 200,
    })
    expect(ruleOf('doc', { ...choice, effect: 'allow', tool: 'Write', size: '20' })).toEqual({
      documentId: 'doc',
      effect: 'allow',
      tool: 'Write',
      max_units: 20,
    })
    expect(ruleOf('desk', { ...choice, effect: 'ask', path: ' notes/** ', author: 'u1' })).toEqual({
      documentId: 'desk',
      effect: 'ask',
      path: 'notes/**',
      author: 'u1',
    })
    expect(ruleOf('doc', { ...choice, effect: 'allow', tool: 'Write', unmarked: true })).toEqual({
      documentId: 'doc',
      effect: 'allow',
      tool: 'Write',
      unmarked: true,
    })
    const flaws = [
      { effect: 'allow' },
      { effect: 'allow', tool: 'Write', size: '0' },
      { size: 'few' },
      { size: '-1' },
    ] as const
    for (const flaw of flaws) {
      expect(ruleOf('doc', { ...choice, ...flaw })).toBeNull()
      expect(flawOf({ ...choice, ...flaw })).toMatch(/\.$/)
    }
    expect(flawOf(choice)).toBeNull()
  })

  it('says that who denies edits denies several at once', () => {
    const choice = {
      effect: 'deny',
      tool: 'Edit',
      path: '',
      size: '',
      author: '',
      unmarked: false,
    } as const
    expect(meaning(choice, RULED_IN_INBOX)).toContain('Several edits')
    expect(meaning({ ...choice, effect: 'allow' }, RULED_IN_INBOX)).not.toContain('Several edits')
  })

  it('says what a path cannot speak of', () => {
    const choice = {
      effect: 'deny',
      tool: '',
      path: 'private/**',
      size: '',
      author: '',
      unmarked: false,
    } as const
    expect(meaning(choice, RULED_IN_INBOX)).toMatch(
      /Blocked.*Searches leave such files out.*commands/,
    )
    expect(meaning({ ...choice, tool: 'Write' }, RULED_IN_INBOX)).not.toMatch(
      /Searches|running commands/,
    )
    expect(meaning({ ...choice, effect: 'ask', tool: 'Read' }, RULED_IN_INBOX)).toContain(
      'no words of such files',
    )
    expect(meaning({ ...choice, path: '' }, RULED_IN_INBOX)).not.toMatch(
      /Searches|running commands/,
    )
  })

  it('allows only what asks and is no command', () => {
    expect(offered(RULED_IN_INBOX, 'allow').map(({ tool }) => tool)).toEqual([
      'Write',
      'Edit',
      'MultiEdit',
      'create_new_document',
    ])
    expect(offered(RULED_IN_INBOX, 'deny')).toEqual(RULED_IN_INBOX)
  })
})
