/** Names of tools for people. Pure. */
import { TOOLS } from '../wire/generatedTools.ts'
import { toolFacts } from '../wire/tools.ts'

/** Suggestions of people are no tool, and have a name in the place of one. */
export const toolName = (tool: string): string =>
  tool === 'suggestion' ? 'Suggestion' : (toolFacts(tool)?.title ?? tool)

/** Tools that change the open document, as people choose them. */
export const DOCUMENT_TOOLS: readonly string[] = TOOLS.filter(
  ({ effect, scope }) => effect === 'proposes' && scope === 'document',
).map(({ name }) => name)
