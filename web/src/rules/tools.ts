/** The tools that owners' rules are made about, and what a rule can say of each. Pure. */
import { DOCUMENT_TOOLS, toolName } from '../chat/tools.ts'

export interface RuledTool {
  tool: string
  name: string
  /** Whether its calls name a file. */ files: boolean
  /** Whether a rule can allow it: it asks, and not about commands. */ allows: boolean
}

export const RULED_IN_DOCUMENTS: readonly RuledTool[] = DOCUMENT_TOOLS.map((tool) => ({
  tool,
  name: toolName(tool),
  files: false,
  allows: true,
}))

/** For work without a document. */
export const RULED_IN_INBOX: readonly RuledTool[] = [
  { tool: 'Write', name: 'Write a file', files: true, allows: true },
  { tool: 'Edit', name: 'Edit a file', files: true, allows: true },
  { tool: 'MultiEdit', name: 'Several edits of a file', files: true, allows: true },
  { tool: 'create_new_document', name: 'New document', files: false, allows: true },
  { tool: 'Bash', name: 'Run a command', files: false, allows: false },
  { tool: 'Read', name: 'Read a file', files: true, allows: false },
  { tool: 'Glob', name: 'Find files', files: true, allows: false },
  { tool: 'Grep', name: 'Search in files', files: true, allows: false },
]

/** What a rule with this effect can be about. */
export const offered = (
  tools: readonly RuledTool[],
  effect: 'deny' | 'ask' | 'allow',
): readonly RuledTool[] => (effect === 'allow' ? tools.filter(({ allows }) => allows) : tools)
