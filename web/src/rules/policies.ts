/** Stricter policies for tools, sizes and changes of meaning: their words and their form. Pure. */
import { toolName } from '../chat/tools.ts'
import { listed } from '../ui/timeFormat.ts'
import { MARK_KINDS, type MarkKind } from '../review/state/marks.ts'
import { severalOf } from '../review/state/markWords.ts'
import type { DecisionPolicy, ToolPolicy } from '../wire/generated.ts'

/** The choices in the form. */
export interface PolicyChoice {
  /** Empty: every tool. */ tool: string
  /** As typed; empty: of every size. */ over: string
  /** Empty: whatever a change does to the meaning. */ marks: readonly MarkKind[]
  policy: DecisionPolicy
}

const WHO: Record<DecisionPolicy, string> = {
  any: 'anyone who may review',
  not_requester: 'anyone except the person who asked',
  two: 'two people',
  owner: 'an owner',
}

/** "Rewrite above 2000 characters: an owner", "Changes of numbers and names: two people" */
export function policyWords({ tool, over, marks = [], policy }: ToolPolicy): string {
  const size = over === undefined ? '' : ` above ${over} characters`
  const kinds = marks.length === 0 ? '' : `Changes of ${listed(marks.map(severalOf), 'and')}`
  const by = tool === undefined ? (kinds && !size ? '' : 'Every tool') : toolName(tool)
  return `${[kinds, by + size].filter(Boolean).join(', ')}: ${WHO[policy]}`
}

/** The list with one more; `null`: the choice says nothing, or nothing new. */
export function withPolicy(
  policies: readonly ToolPolicy[],
  { tool, over, marks, policy }: PolicyChoice,
): ToolPolicy[] | null {
  const units = over.trim() === '' ? undefined : Number(over)
  if (units !== undefined && !(Number.isSafeInteger(units) && units >= 0)) return null
  // For every tool, size and meaning there is the policy of the document.
  if (tool === '' && units === undefined && marks.length === 0) return null
  const added: ToolPolicy = {
    ...(tool !== '' && { tool }),
    ...(units !== undefined && { over: units }),
    ...(marks.length > 0 && { marks: MARK_KINDS.filter((kind) => marks.includes(kind)) }),
    policy,
  }
  const same = (other: ToolPolicy) =>
    other.tool === added.tool &&
    other.over === added.over &&
    (other.marks ?? []).toSorted().join() === (added.marks ?? []).toSorted().join()
  return policies.some((other) => same(other) && other.policy === policy)
    ? null
    : [...policies.filter((other) => !same(other)), added]
}
