/** What people call the tools. */
const TOOLS: Record<string, string> = {
  update_full_document: 'Rewrite',
  update_selection: 'Rewrite of a selection',
  respond_conversation_only: 'Answer',
  insert_at_cursor: 'Insertion',
  find_and_replace: 'Find and replace',
  suggest_improvements: 'Suggestions',
  ExitPlanMode: 'Plan',
  create_new_document: 'New document',
  suggestion: 'Tracked changes',
  MultiEdit: 'Several edits',
  Bash: 'Run a command',
  Glob: 'Find files',
  Grep: 'Search in files',
}

/** Tools that change the open document, as people choose them. */
export const DOCUMENT_TOOLS = [
  'update_full_document',
  'update_selection',
  'insert_at_cursor',
  'find_and_replace',
  'suggest_improvements',
] as const

export const toolName = (tool: string): string => TOOLS[tool] ?? tool
