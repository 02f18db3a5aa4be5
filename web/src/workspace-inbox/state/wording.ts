/** Names of cards of the desk, and their outcomes. Pure. */
import { toolName } from '../../chat/tools.ts'
import { shortened } from '../../text/shortened.ts'
import { timeAgo } from '../../ui/timeFormat.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { showInvisible } from '../../ui/visibleText.ts'
import { toolEffect } from '../../wire/tools.ts'
import type { FileNow } from './store.ts'

/** A command is named by its beginning. */
const LONGEST = 60

/**
 * "Write src/a.txt", "command: echo done": what tells a card from the others, for who cannot see
 * them
 * side by side.
 */
export function scopeOf({
  tool_name,
  file_path,
  preview_type,
  preview_data,
}: Pick<ToolApprovalRequest, 'tool_name' | 'file_path' | 'preview_type' | 'preview_data'>): string {
  const name = showInvisible(toolName(tool_name))
  const { command } = (preview_data ?? {}) as { command?: unknown }
  // Other tools may have an input of that name too.
  if (preview_type === 'command' && typeof command === 'string')
    return `${toolEffect(tool_name) === 'acts' ? 'command' : name}: ${showInvisible(shortened(command.replace(/\s+/g, ' ').trim(), LONGEST))}`
  return file_path === null ? name : `${name} ${showInvisible(file_path)}`
}

const OUTCOMES: Partial<Record<ToolApprovalRequest['status'], string>> = {
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  cancelled: 'Cancelled',
  failed: 'Failed',
  partly: 'Partly',
}

/** "Approved by Bo"; an automatic decision is named beside it. */
export function outcomeOf({
  status,
  by,
  rule,
  unasked,
}: Pick<ToolApprovalRequest, 'status' | 'by' | 'rule'> &
  Partial<Pick<ToolApprovalRequest, 'unasked'>>): string {
  const what = OUTCOMES[status] ?? status
  const decided = by !== null && rule === null && (unasked ?? null) === null && status !== 'failed'
  return decided ? `${what} by ${by.name}` : what
}

type EndedRequest = Parameters<typeof outcomeOf>[0] & Pick<ToolApprovalRequest, 'aftermath'>

/** "Undone by Bo, 5 min ago"; nothing without an undo. */
export function undoneWords(
  { aftermath }: Pick<ToolApprovalRequest, 'aftermath'>,
  now: number,
): string | null {
  const undone = aftermath?.undone
  if (!undone) return null
  return `Undone by ${undone.by.name}, ${timeAgo(undone.at, now)}${undone.forced ? ', over what was changed since' : ''}`
}

/**
 * "Again: rejected by Bo before": what became of the one that was proposed again with this, as far
 * as it is known.
 */
export function againWords(earlier: EndedRequest | undefined): string {
  if (!earlier) return 'Again: proposed before'
  const undone = earlier.aftermath?.undone
  if (undone) return `Again: undone by ${undone.by.name} before`
  const outcome = outcomeOf(earlier)
  return `Again: ${outcome.charAt(0).toLowerCase()}${outcome.slice(1)} before`
}

/** Asks whether an undo is to overwrite later changes; a new file is taken away again. */
export function overwriteQuestion(
  { original_content }: Pick<ToolApprovalRequest, 'original_content'>,
  { file_path, exists }: Pick<FileNow, 'file_path' | 'exists'>,
): string {
  const since = exists ? 'was changed since' : 'is no longer there'
  const back = original_content === null ? 'Take it away' : 'Put the old content back'
  return `${showInvisible(file_path)} ${since}. ${back} anyway?`
}

export interface Verbs {
  approve: string
  confirm: string
}

/** Returns the word for a yes: a command is run. */
export function verbsFor({ preview_type }: Pick<ToolApprovalRequest, 'preview_type'>): Verbs {
  return preview_type === 'command'
    ? { approve: 'Run', confirm: 'Yes, run it' }
    : { approve: 'Approve', confirm: 'Yes, approve' }
}
