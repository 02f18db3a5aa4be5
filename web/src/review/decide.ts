/** Decisions go to the server, which applies them; here they are asked for, and their answers explained. */
import { create } from 'zustand'
import { getCurrent } from '../editor/current.ts'
import { hasCapability, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import type { ApprovalRequest, ApprovalResponse, Hunk, HunkResponse, HunkState, Remember } from '../wire/types.ts'
import { asItIs } from './field.ts'
import { currentText, isOpen } from './hunk.ts'
import { announced, useReview } from './store.ts'

/** What is being decided just now, so that nothing is sent twice. */
export const useBusy = create<{ ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }))

interface Accepted { request_id: string; hunks: string[] }
/** What Ctrl+Z takes back; known from the click on, because the words can change on screen before the answer comes. */
let lastAccept: Promise<Accepted | null> | null = null

export function acceptHunk(hunk: Hunk, text?: string): Promise<boolean> {
  const response: HunkResponse = { id: hunk.id, decision: 'accept', ...(text !== undefined && { text }), ...seen(hunk) }
  return decide([hunk.id], { request_id: hunk.request_id, approved: true, hunks: [response] }, 'Accepted.')
}

/** A conflicted change is only applied over words that the person has in view. */
function seen(shown: Hunk): Pick<HunkResponse, 'force' | 'seen'> {
  const state = getCurrent()?.view.state
  if (!state || shown.status !== 'conflict') return {}
  return { force: true, seen: currentText(asItIs(state, shown), state.doc) }
}

export function rejectHunk(hunk: Hunk, feedback = ''): Promise<boolean> {
  return decide([hunk.id], rejection(hunk, feedback), 'Rejected.')
}

/** What {@link rejectHunk} sends. */
export function rejection(hunk: Hunk, feedback: string): ApprovalResponse {
  return { request_id: hunk.request_id, approved: false, hunks: [{ id: hunk.id, decision: 'reject' }], ...(feedback && { feedback }) }
}

export function acceptAll(request: ApprovalRequest, note = '', wish?: Remember): Promise<boolean> {
  return decide(openIds(request), { ...acceptanceOfAll(request, note), ...(wish && { remember: wish }) }, 'Accepted.')
}

/** What {@link acceptAll} sends. */
export function acceptanceOfAll(request: ApprovalRequest, note: string): ApprovalResponse {
  return { request_id: request.request_id, approved: true, ...(note && { note }) }
}

export function rejectAll(request: ApprovalRequest, feedback = ''): Promise<boolean> {
  return decide(openIds(request), rejectionOfAll(request, feedback), 'Rejected.')
}

/** What {@link rejectAll} sends. */
export function rejectionOfAll(request: ApprovalRequest, feedback: string): ApprovalResponse {
  return { request_id: request.request_id, approved: false, ...(feedback && { feedback }) }
}

const openIds = (request: ApprovalRequest): string[] => request.hunks.filter((hunk) => isOpen(hunk.status)).map((hunk) => hunk.id)

async function decide(ids: string[], response: ApprovalResponse, done: string): Promise<boolean> {
  const keys = ids.length > 0 ? ids : [response.request_id]
  if (keys.some((id) => useBusy.getState().ids.has(id))) return false
  const shown = useReview.getState().requests[response.request_id]?.preview_hash
  busy(keys, true)
  const answer = wire.call('tool_approval_response', { ...response, ...(shown && { preview_hash: shown }) })
  if (response.approved) remember(answer.then(({ hunks }) => landed(response.request_id, ids, hunks), () => null))
  try {
    const { approvals, hunks } = await answer
    const accepted = landed(response.request_id, ids, hunks)
    const counted = approvals.need > 1 && hunks.some((hunk) => ids.includes(hunk.id) && isOpen(hunk.status))
    if (counted && response.approved) toast(`Your approval counts: ${approvals.have} of ${approvals.need}.`)
    else if (accepted && hasCapability('undo')) offerUndo(accepted, done)
    return true
  } catch (error) {
    explain(error)
    return false
  } finally {
    busy(keys, false)
  }
}

/** The changes of a decision that are in the text now. */
function landed(request_id: string, asked: readonly string[], now: readonly HunkState[]): Accepted | null {
  const hunks = now.filter((hunk) => asked.includes(hunk.id) && hunk.status === 'accepted').map((hunk) => hunk.id)
  return hunks.length > 0 ? { request_id, hunks } : null
}

/** Where nothing landed, Ctrl+Z is about the accept before. */
function remember(accept: Promise<Accepted | null>): void {
  const before = lastAccept
  lastAccept = hasCapability('undo') ? accept.then((accepted) => accepted ?? before) : null
}

function busy(keys: readonly string[], on: boolean): void {
  useBusy.setState(({ ids }) => ({ ids: on ? new Set([...ids, ...keys]) : new Set([...ids].filter((id) => !keys.includes(id))) }))
}

function offerUndo(accept: Accepted, done: string): void {
  const many = accept.hunks.length > 1 ? `${accept.hunks.length} changes accepted.` : done
  toast(many, { action: { label: 'Undo', run: () => void undoAccept(accept) }, about: 'accept' })
}

/** Makes a request that was rejected or ran out of time wait again, on today's text. */
export function proposeAgain(request: ApprovalRequest): void {
  wire.call('approval:reopen', { request_id: request.request_id }).catch(explain)
}

/** Something was typed since: Ctrl+Z is about that again. */
export function forgetLastAccept(): void {
  lastAccept = null
}

/** Takes back everything that was accepted of a request, however long ago. */
export function undoRequest(request: ApprovalRequest): void {
  void undoAccept({ request_id: request.request_id, hunks: request.hunks.filter((hunk) => hunk.status === 'accepted').map((hunk) => hunk.id) })
}

/** For Ctrl+Z right after accepting. */
export function undoLastAccept(): boolean {
  if (!lastAccept) return false
  void lastAccept.then((accept) => accept && undoAccept(accept))
  lastAccept = null
  return true
}

async function undoAccept(accept: Accepted): Promise<void> {
  lastAccept = null
  try {
    await wire.call('approval:undo', accept)
  } catch (error) {
    explain(error)
  }
}

const EXPLAINED: Record<string, string> = {
  already_resolved: 'Someone already reviewed that change.',
  not_found: 'That suggestion is no longer there.',
  expired: 'That suggestion has expired. Ask again to get it on today’s text.',
  conflicted: 'The text there changed again. Look once more.',
  offline: 'Reviewing waits until you are back online.',
  timeout: 'The server did not answer. Your decision may not have arrived.',
}

/** Says in words of ours why a decision was refused. */
export function explain(error: unknown): void {
  if (!(error instanceof CallError)) throw error
  if (error.code === 'stale_preview') {
    const fresh = freshRequest(error.details)
    // One without a document comes to the desk by itself.
    if (fresh?.document_id) useReview.setState((state) => announced(state, fresh))
    return toast('The suggestion changed while you looked. Check it again.')
  }
  toast(EXPLAINED[error.code] ?? error.message)
  getCurrent()?.redraw()
}

function freshRequest(details: unknown): ApprovalRequest | undefined {
  const found = details && typeof details === 'object' && 'request' in details ? details.request : details
  return found && typeof found === 'object' && 'request_id' in found && 'hunks' in found ? (found as ApprovalRequest) : undefined
}
