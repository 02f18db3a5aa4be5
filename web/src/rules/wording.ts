/** The calls that a rule allows, asks about or denies, in words that leave nothing out. Pure. */
import { toolName } from '../chat/tools.ts'
import type { AddRule, ToolApprovalRequest, Remember, Rule } from '../wire/generated.ts'
import { TOOLS } from '../wire/generatedTools.ts'
import { toolEffect, toolFacts } from '../wire/tools.ts'
import { RULED_IN_INBOX, type RuledTool } from './tools.ts'
import { whoseRule } from '../review/state/whoseRule.ts'

/**
 * Sizes people choose from, in characters deleted and inserted together (UTF-16 units, as the
 * server counts).
 */
const SIZES = [20, 50, 100, 200, 500, 1_000]

/** Patterns for whole files. */
const SIZES_AT_DESK = [100, 500, 2_000, 10_000]

/** The sizes a request fits into, smallest first; none for what is no small correction any more. */
export function sizesFor(units: number, sizes: readonly number[] = SIZES): number[] {
  return sizes.filter((size) => size >= units).slice(0, 3)
}

/** The sizes a request without a document fits into; the last is without a limit. */
export const sizesInInbox = (units: number): (number | undefined)[] => [
  ...sizesFor(units, SIZES_AT_DESK),
  undefined,
]

/**
 * Returns whether it makes sense to offer a rule beside accepting all of a request: the server
 * makes none otherwise, or it would never apply.
 */
export function canRemember(request: ToolApprovalRequest): boolean {
  // An owner who wants a plan wants to see it; what people suggest is decided by people.
  if (toolEffect(request.tool_name) === 'plans' || request.source === 'person') return false
  if (request.units === null || request.warnings.length > 0 || request.preview_type === 'command')
    return false
  if (request.document_id !== null) return sizesFor(request.units).length > 0
  const tool = RULED_IN_INBOX.find(({ tool: name, allows }) => allows && name === request.tool_name)
  return tool !== undefined && (!tool.files || patternsFor(request.file_path).length > 0)
}

/**
 * Patterns for files like this one, from the narrowest to the widest; none for a path that no rule
 * can speak of.
 */
export function patternsFor(path: string | null): { pattern: string; words: string }[] {
  const names = (path ?? '').split('/').filter((name) => name !== '' && name !== '.')
  const name = names.pop()
  if (name === undefined || path?.startsWith('/') || names.includes('..') || name === '..')
    return []
  const folder = names.map(literal).join('/')
  const place = names.length > 0 ? `in ${names.join('/')}` : 'at the top'
  const below = (rest: string) => (folder ? `${folder}/${rest}` : rest)
  const ending = /[^.](\.[A-Za-z0-9]+)$/.exec(name)?.[1]
  return [
    { pattern: below(literal(name)), words: `only ${[...names, name].join('/')}` },
    ...(ending ? [{ pattern: below(`*${ending}`), words: `${ending} files ${place}` }] : []),
    ...(folder ? [{ pattern: below('**'), words: `everything ${place}` }] : []),
  ]
}

/** A name as a pattern that means exactly it. */
const literal = (name: string): string => name.replace(/[[\]*?{}]/g, '[$&]').replace(/\\/g, '\\\\')

/** "Rewrite, at most 50 characters changed" */
export function allowed(tool: string, remember: Remember): string {
  const files = remember.path === undefined ? '' : ` in files like ${remember.path}`
  const size =
    remember.max_units === undefined
      ? 'of any size'
      : `at most ${remember.max_units} characters changed`
  const meaning = remember.unmarked ? ', only changes that keep the meaning' : ''
  return `${toolName(tool)}${files}, ${size}${meaning}`
}

/** "Denied: Rewrite, more than 200 characters changed", "Rewrite, at most 50 characters changed" */
export function ruleWords({
  effect,
  tool,
  over,
  remember,
}: Pick<Rule, 'effect' | 'tool' | 'over' | 'remember'>): string {
  if (effect === 'allow') return allowed(tool, remember)
  const what = tool === '*' ? 'Every tool' : toolName(tool)
  const files = remember.path === undefined ? '' : ` in files like ${remember.path}`
  const size = over === undefined ? 'of any size' : `more than ${over} characters changed`
  return `${effect === 'deny' ? 'Denied' : 'Always asked about'}: ${what}${files}, ${size}`
}

/** "whoever asks", "only what Ana asks for"; `who` asked. */
export function reach(remember: Remember, who: string): string {
  if (remember.scope === 'session') return `only what ${who} asked for in one session`
  if (remember.author === undefined) return 'whoever asks'
  return `only what ${who} ${who === 'you' ? 'ask' : 'asks'} for`
}

/** The choices in the form. */
export interface Choice {
  effect: 'deny' | 'ask' | 'allow'
  /** Empty: every tool. */ tool: string
  /** A pattern; empty: any file, or none. */ path: string
  /** As typed; empty: of any size. */ size: string
  /** User of the person who asks; empty: anybody. */ author: string
  /** With `allow`: only changes that keep the meaning. */ unmarked: boolean
}

/** Returns the message to the server; `null`: the choice makes no rule. */
export function ruleOf(documentId: string, choice: Choice): AddRule | null {
  if (flawOf(choice) !== null) return null
  const { effect, tool, path, size, author, unmarked } = choice
  const units = size.trim() === '' ? undefined : Number(size)
  return {
    documentId,
    effect,
    ...(tool !== '' && { tool }),
    ...(path.trim() !== '' && { path: path.trim() }),
    ...(author !== '' && { author }),
    ...(effect === 'allow' && unmarked && { unmarked }),
    ...(units !== undefined && (effect === 'allow' ? { max_units: units } : { over: units })),
  }
}

/** Returns why the choice is no rule; `null`: no reason is known here. */
export function flawOf({ effect, tool, size }: Choice): string | null {
  const units = size.trim() === '' ? undefined : Number(size)
  if (effect === 'allow' && tool === '') return 'A rule allows one tool: choose which.'
  if (units !== undefined && !(Number.isSafeInteger(units) && units >= 0))
    return 'The size is a whole number of characters.'
  return effect === 'allow' && units === 0
    ? 'A rule that allows no character allows nothing.'
    : null
}

const MEANING: Record<Choice['effect'], string> = {
  deny: 'Blocked: never proposed, even with approvals off.',
  ask: 'Always asks, even where another rule allows it or approvals are off.',
  allow:
    'Done at once, in your name. Commands and what has a warning are asked about all the same.',
}

/** Returns the meaning of the rule; among `tools` are some that no path can speak of. */
export function meaning({ effect, tool, path }: Choice, tools: readonly RuledTool[]): string {
  const repeated = TOOLS.find(({ repeats }) => repeats === tool)
  const said = `${MEANING[effect]}${repeated && effect !== 'allow' ? ` ${repeated.ruleTitle} are meant too.` : ''}`
  if (path.trim() === '' || effect === 'allow') return said
  const hidden =
    effect === 'deny' ? 'Searches leave such files out.' : 'Searches show no words of such files.'
  const facts = toolFacts(tool)
  const reads = facts?.effect === 'reads' && (facts.reads !== 'nothing' || effect === 'deny')
  const searched = tool === '' || reads
  const nameless =
    tool === '' && tools.some(({ files }) => !files)
      ? ' Commands name no file: a rule about running commands is for those.'
      : ''
  return `${said}${searched ? ` ${hidden}` : ''}${nameless}`
}

/**
 * Returns why there was no question, and the rule for that: "Approved by your rule", "Write in
 * notes/**, of any size"; `null`: a person decided.
 */
export function automatic(
  verb: string,
  {
    rule,
    unasked = null,
    by,
  }: Pick<ToolApprovalRequest, 'rule' | 'by'> & Partial<Pick<ToolApprovalRequest, 'unasked'>>,
  me: string | undefined,
  known: Readonly<Record<string, Rule>>,
): { how: string; why: string } | null {
  const found = rule === null ? undefined : known[rule]
  if (rule !== null)
    return { how: `${verb} by ${whoseRule(by, me)}`, why: found ? ruleWords(found) : '' }
  if (unasked === null) return null
  const asker = by === null ? 'whoever asked' : by.id === me ? 'you' : by.name
  return {
    how: `${verb} without asking`,
    why:
      unasked === 'bypass'
        ? `approvals were skipped, as ${asker} chose for this question`
        : 'approvals are off',
  }
}

/**
 * Returns whether a person may revoke a rule: its maker, or an owner; a rule that denies or asks,
 * only an owner.
 */
export function mayRevoke(rule: Rule, me: string | undefined, role: string): boolean {
  return (rule.by.id === me && rule.effect === 'allow') || role === 'owner'
}
