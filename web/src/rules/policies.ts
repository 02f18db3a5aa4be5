/** Stricter policies for tools and sizes: what they say, and what a form makes of them. Pure. */
import { toolName } from '../chat/tools.ts'
import type { DecisionPolicy, ToolPolicy } from '../wire/generated.ts'

/** The choices in the form. */
export interface PolicyChoice {
  /** Empty: every tool. */ tool: string
  /** As typed; empty: of every size. */ over: string
  policy: DecisionPolicy
}

const WHO: Record<DecisionPolicy, string> = {
  any: 'anyone who may review',
  not_requester: 'anyone except the person who asked',
  two: 'two people',
  owner: 'an owner',
}

/** "Rewrite above 2000 characters: an owner" */
export function policyWords({ tool, over, policy }: ToolPolicy): string {
  const size = over === undefined ? '' : ` above ${over} characters`
  return `${tool === undefined ? 'Every tool' : toolName(tool)}${size}: ${WHO[policy]}`
}

/** The list with one more; `null`: the choice says nothing, or nothing new. */
export function withPolicy(
  policies: readonly ToolPolicy[],
  { tool, over, policy }: PolicyChoice,
): ToolPolicy[] | null {
  const units = over.trim() === '' ? undefined : Number(over)
  if (units !== undefined && !(Number.isSafeInteger(units) && units >= 0)) return null
  // For every tool and size there is the policy of the document.
  if (tool === '' && units === undefined) return null
  const added: ToolPolicy = {
    ...(tool !== '' && { tool }),
    ...(units !== undefined && { over: units }),
    policy,
  }
  const same = (other: ToolPolicy) => other.tool === added.tool && other.over === added.over
  return policies.some((other) => same(other) && other.policy === policy)
    ? null
    : [...policies.filter((other) => !same(other)), added]
}
