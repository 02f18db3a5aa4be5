/** The tools that owners' rules are made about, and what a rule can say of each. Pure. */
import { DOCUMENT_TOOLS, toolName } from '../chat/tools.ts'
import { TOOLS, type ToolFacts } from '../wire/generatedTools.ts'

export interface RuledTool {
  tool: string
  name: string
  /** Whether its calls name a file. */ files: boolean
  /** Whether a rule can allow it: it asks, and not about commands. */ allows: boolean
}

export const RULED_IN_DOCUMENTS: readonly RuledTool[] = [
  ...DOCUMENT_TOOLS.map((tool) => ({
    tool,
    name: toolName(tool),
    files: false,
    allows: true,
  })),
  // Comments of the AI need no approval, but a rule can forbid them.
  ...TOOLS.filter(({ effect }) => effect === 'comments').map(({ name, ruleTitle }) => ({
    tool: name,
    name: ruleTitle,
    files: false,
    allows: false,
  })),
]

/** Effects of tools for work without a document, in the order in which people choose them. */
const IN_INBOX: readonly ToolFacts['effect'][] = ['changes_file', 'creates', 'acts', 'reads']

/** For work without a document. */
export const RULED_IN_INBOX: readonly RuledTool[] = IN_INBOX.flatMap((effect) =>
  TOOLS.filter((tool) => tool.effect === effect).map(({ name, ruleTitle }) => ({
    tool: name,
    name: ruleTitle,
    files: effect === 'changes_file' || effect === 'reads',
    allows: effect === 'changes_file' || effect === 'creates',
  })),
)

/** What a rule with this effect can be about. */
export const offered = (
  tools: readonly RuledTool[],
  effect: 'deny' | 'ask' | 'allow',
): readonly RuledTool[] => (effect === 'allow' ? tools.filter(({ allows }) => allows) : tools)
