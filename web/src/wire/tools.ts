/** Facts about a tool, as the server's tools declare them. Pure. */
import { TOOLS, type ToolFacts } from './generatedTools.ts'

const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]))

/** The facts about a tool; none for a tool that is not the server's own. */
export const toolFacts = (tool: string): ToolFacts | undefined => BY_NAME.get(tool)

export const toolEffect = (tool: string): ToolFacts['effect'] | undefined => toolFacts(tool)?.effect
