/** Text for the AI about a decision, before it is sent. Pure; the words are the server's. */
import type { Told, ToolApprovalRequest } from '../../wire/generated.ts'
import { tally } from './requests.ts'

/** In place of what is known only once the call has run. */
export const RESULT = '(the result of the call)'

/**
 * The server's words for a decision as people read them before they send it; `otherwise` is what
 * can be said without the server.
 */
export function worded(told: Told, otherwise: string): string {
  if (told.state === 'complete') return told.text
  // While something is open the AI waits; the list so far stands below the words to come.
  if (told.state === 'waiting') return [otherwise, told.so_far.trim()].filter(Boolean).join('\n\n')
  return `${told.before && `${told.before}\n`}${RESULT}${told.after}`
}

/** Text for the AI about a call that is approved as a whole. */
export function feedbackOnApprove(note: string): string {
  return note.trim() === '' ? RESULT : `${RESULT}\nUser note: ${note.trim()}`
}

/** The same for a call that is approved with another input. */
export function feedbackOnEdit(input: unknown): string {
  return `Note: the user edited this call before it ran; executed input: ${JSON.stringify(input)}. Do not re-issue the original.\n${RESULT}`
}

/** The same for all open changes rejected now. */
export function feedbackOnRejectAll(request: ToolApprovalRequest, feedback: string): string {
  const { accepted } = tally(request.hunks)
  if (accepted > 0) return partly(request, feedback)
  return feedback.trim() === ''
    ? 'User rejected the operation'
    : `User rejected: ${feedback.trim()}`
}

/** The same for all open changes accepted now. */
export function feedbackOnAcceptAll(note: string): string {
  return note.trim() === '' ? 'What was applied' : `What was applied\nUser note: ${note.trim()}`
}

/** The same for one accepted change: at once if it was the last, else at the end. */
export function feedbackOnAcceptOne(request: ToolApprovalRequest, note: string): string {
  const { open } = tally(request.hunks)
  const said = feedbackOnAcceptAll(note)
  return open > 1 ? `Told once all changes are decided:\n${said}` : said
}

/** The same for one rejected change while others wait: nothing yet, and this at the end. */
export function feedbackOnRejectOne(request: ToolApprovalRequest, feedback: string): string {
  const { open, accepted } = tally(request.hunks)
  if (open > 1)
    return `Told once all changes are decided, with the list of what was accepted and rejected:\n${feedback.trim() ? `User feedback: ${feedback.trim()}` : '(no feedback)'}`
  return accepted > 0 ? partly(request, feedback) : feedbackOnRejectAll(request, feedback)
}

function partly(request: ToolApprovalRequest, feedback: string): string {
  const { accepted, rejected, open } = tally(request.hunks)
  const head = `Partly applied: ${accepted} accepted, ${rejected + open} rejected.`
  return feedback.trim() === ''
    ? `${head}\n(and one line for each change)`
    : `${head}\n(and one line for each change)\nUser feedback: ${feedback.trim()}`
}
