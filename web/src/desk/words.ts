/** What cards of the desk are called, and what became of them. Pure. */
import { toolName } from '../chat/tools.ts'
import type { ApprovalRequest } from '../wire/types.ts'
import { visible } from './shown.ts'

/** A command is named by its beginning. */
const LONGEST = 60

/** "Write src/a.txt", "Bash: echo done": what tells a card from the others, for who cannot see them side by side. */
export function scopeOf({ tool_name, file_path, preview_data }: Pick<ApprovalRequest, 'tool_name' | 'file_path' | 'preview_data'>): string {
  const name = visible(toolName(tool_name))
  const { command } = (preview_data ?? {}) as { command?: unknown }
  if (typeof command === 'string') return `${name}: ${visible(cut(command.replace(/\s+/g, ' ').trim()))}`
  return file_path === null ? name : `${name} ${visible(file_path)}`
}

const cut = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`)

const OUTCOMES: Partial<Record<ApprovalRequest['status'], string>> = { approved: 'Approved', rejected: 'Rejected', expired: 'Expired', cancelled: 'Cancelled', failed: 'Failed', partly: 'Partly' }

/** "Approved by Bo"; that nobody was asked is said beside it. */
export function outcomeOf({ status, by, rule, unasked }: Pick<ApprovalRequest, 'status' | 'by' | 'rule'> & Partial<Pick<ApprovalRequest, 'unasked'>>): string {
  const what = OUTCOMES[status] ?? status
  const decided = by !== null && rule === null && (unasked ?? null) === null && status !== 'failed'
  return decided ? `${what} by ${by.name}` : what
}

export interface Verbs { approve: string; confirm: string }

/** What a yes is called: a command is run. */
export function verbsFor({ preview_type }: Pick<ApprovalRequest, 'preview_type'>): Verbs {
  return preview_type === 'command' ? { approve: 'Run', confirm: 'Yes, run it' } : { approve: 'Approve', confirm: 'Yes, approve' }
}
