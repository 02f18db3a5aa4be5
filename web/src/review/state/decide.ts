/** Decisions go to the server, which applies them; here they are asked for, and their answers explained. */
import { create } from 'zustand'
import { getCurrent } from '../../editor/sync/currentDocument.ts'
import { hasCapability, wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { plural } from '../../ui/timeFormat.ts'
import { CallError } from '../../wire/socket.ts'
import type {
  ToolApprovalRequest,
  ToolApprovalResponse,
  Decided,
  Hunk,
  HunkState,
  Remember,
  SeenWords,
} from '../../wire/generated.ts'
import { freshRequest, wordsFor } from '../wording/decisionErrors.ts'
import { asItIs } from '../changes/reviewField.ts'
import { currentText, isOpen } from '../changes/hunk.ts'
import {
  acceptance,
  acceptanceOfAll,
  type DecisionExtras,
  rejection,
  rejectionOfAll,
  type Seen,
} from './responses.ts'
import { type Overwrite, touchedSince, useOverwrite } from './overwrite.ts'
import { applyRequest, useReview } from './store.ts'

/** What is being decided just now, so that nothing is sent twice. */
export const useBusy = create<{ ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }))

interface Accepted {
  request_id: string
  hunks: string[]
}
/** What an undo may overwrite: with `seen`, nothing but that. */
interface Overwriting {
  force: true
  seen?: SeenWords[]
}
/** What Ctrl+Z takes back; known from the click on, because the words can change on screen before the answer comes. */
let lastAccept: Promise<readonly Accepted[]> | null = null

export function acceptHunk(hunk: Hunk, more: DecisionExtras = {}): Promise<boolean> {
  return decide(namedBy(hunk, more), acceptance(hunk, more, seen(hunk)))
}

/** A conflicted change is only applied over words that the person has in view. */
export function seen(shown: Hunk): Seen {
  const state = getCurrent()?.view.state
  if (!state || shown.status !== 'conflict') return {}
  return { force: true, seen: currentText(asItIs(state, shown), state.doc) }
}

export function rejectHunk(hunk: Hunk, more: DecisionExtras = {}): Promise<boolean> {
  return decide(namedBy(hunk, more), rejection(hunk, more))
}

export function acceptAll(
  request: ToolApprovalRequest,
  note = '',
  wish?: Remember,
): Promise<boolean> {
  return decide(openIds(request), {
    ...acceptanceOfAll(request, note),
    ...(wish && { remember: wish }),
  })
}

export function rejectAll(request: ToolApprovalRequest, feedback = ''): Promise<boolean> {
  return decide(openIds(request), rejectionOfAll(request, feedback))
}

const openIds = (request: ToolApprovalRequest): string[] =>
  request.hunks.filter((hunk) => isOpen(hunk.status)).map((hunk) => hunk.id)

/** The changes a decision is about: the one, or with it all that are open. */
function namedBy(hunk: Hunk, { rest }: DecisionExtras): string[] {
  const request = useReview.getState().requests[hunk.request_id]
  return rest && request ? [...new Set([hunk.id, ...openIds(request)])] : [hunk.id]
}

/** With the preview that is on the screen. */
function asShown(response: ToolApprovalResponse): ToolApprovalResponse {
  const shown = useReview.getState().requests[response.request_id]?.preview_hash
  return { ...response, ...(shown && { preview_hash: shown }) }
}

async function decide(ids: string[], response: ToolApprovalResponse): Promise<boolean> {
  const keys = ids.length > 0 ? ids : [response.request_id]
  if (!markBusy(keys)) return false
  const accepts = response.approved === true || response.finish === 'accept'
  const answer = wire.call('tool_approval_response', asShown(response))
  if (accepts)
    rememberLastAccept(
      answer.then(
        ({ hunks }) => landed(response.request_id, ids, hunks),
        () => [],
      ),
    )
  try {
    const decided = await answer
    if (accepts) accepted(decided, landed(response.request_id, ids, decided.hunks), ids)
    return true
  } catch (error) {
    explain(error)
    return false
  } finally {
    clearBusy(keys)
  }
}

function accepted(
  { approvals, hunks }: Decided,
  now: readonly Accepted[],
  asked: readonly string[],
): void {
  const counted =
    approvals.need > 1 && hunks.some((hunk) => asked.includes(hunk.id) && isOpen(hunk.status))
  if (counted) toast(`Your approval counts: ${approvals.have} of ${approvals.need}.`)
  else offerUndo(now)
}

/** Several requests in one message; each is decided on its own, and what could not be is said. */
export async function decideBatch(
  requests: readonly ToolApprovalRequest[],
  responseTo: (request: ToolApprovalRequest) => ToolApprovalResponse,
): Promise<boolean> {
  const ids = new Map(requests.map((request) => [request.request_id, openIds(request)]))
  const keys = [...ids.values()].flat()
  if (!markBusy(keys)) return false
  const answer = wire.call('tool_approval_batch', {
    responses: requests.map((request) => asShown(responseTo(request))),
  })
  const inText = answer.then(({ results }) =>
    results.flatMap((result) =>
      result.ok ? landed(result.request_id, ids.get(result.request_id) ?? [], result.hunks) : [],
    ),
  )
  rememberLastAccept(inText.catch(() => []))
  try {
    const { results } = await answer
    offerUndo(await inText)
    const refused = results.flatMap((result) => (result.ok ? [] : [new CallError(result.error)]))
    if (refused.length > 0)
      toast(
        `${plural(refused.length, 'suggestion')} could not be decided: ${wordsFor(refused[0]!)}`,
      )
    return refused.length < requests.length
  } catch (error) {
    explain(error)
    return false
  } finally {
    clearBusy(keys)
  }
}

/** The changes of a decision that are in the text now. */
function landed(
  request_id: string,
  asked: readonly string[],
  now: readonly HunkState[],
): Accepted[] {
  const hunks = now
    .filter((hunk) => asked.includes(hunk.id) && hunk.status === 'accepted')
    .map((hunk) => hunk.id)
  return hunks.length > 0 ? [{ request_id, hunks }] : []
}

/** Where nothing landed, Ctrl+Z is about the accept before. */
function rememberLastAccept(accept: Promise<readonly Accepted[]>): void {
  const before = lastAccept
  lastAccept = hasCapability('undo')
    ? accept.then((accepted) => (accepted.length > 0 ? accepted : (before ?? [])))
    : null
}

/** `false`: some of it is on its way already. */
function markBusy(keys: readonly string[]): boolean {
  const { ids } = useBusy.getState()
  if (keys.some((id) => ids.has(id))) return false
  useBusy.setState({ ids: new Set([...ids, ...keys]) })
  return true
}

function clearBusy(keys: readonly string[]): void {
  useBusy.setState(({ ids }) => ({ ids: new Set([...ids].filter((id) => !keys.includes(id))) }))
}

function offerUndo(accepts: readonly Accepted[]): void {
  const count = accepts.reduce((sum, { hunks }) => sum + hunks.length, 0)
  if (count === 0 || !hasCapability('undo')) return
  const where = accepts.length > 1 ? ` in ${accepts.length} suggestions` : ''
  toast(count > 1 ? `${count} changes accepted${where}.` : 'Accepted.', {
    action: { label: 'Undo', run: () => void undoAccepts(accepts) },
    about: 'accept',
  })
}

/** Something was typed since: Ctrl+Z is about that again. */
export function forgetLastAccept(): void {
  lastAccept = null
}

/** For Ctrl+Z right after accepting. */
export function undoLastAccept(): boolean {
  if (!lastAccept) return false
  void lastAccept.then(undoAccepts)
  lastAccept = null
  return true
}

async function undoAccepts(accepts: readonly Accepted[]): Promise<void> {
  lastAccept = null
  for (const { request_id, hunks } of accepts.toReversed()) await undo(request_id, hunks)
}

/** Takes accepted changes back, at any later time; over words that were touched since only when the person has seen them and says so again. */
export async function undo(
  request_id: string,
  hunks?: readonly string[],
  over?: Overwriting,
): Promise<void> {
  try {
    await wire.call('approval:undo', { request_id, ...(hunks && { hunks: [...hunks] }), ...over })
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'conflicted') return explain(error)
    const touched = touchedSince(error.details)
    if (touched.length > 0)
      return useOverwrite.setState({ asked: { request_id, ...(hunks && { hunks }), touched } })
    const again = { label: 'Undo anyway', run: () => void undo(request_id, hunks, { force: true }) }
    toast('These words were changed since. Undoing would overwrite that.', {
      action: again,
      about: `undo ${request_id}`,
    })
  }
}

/** The person has both texts in view, and wants the older one. */
export function undoAnyway({ request_id, hunks, touched }: Overwrite): Promise<void> {
  useOverwrite.setState({ asked: null })
  return undo(request_id, hunks, {
    force: true,
    seen: touched.map(({ id, stands }) => ({ id, stands })),
  })
}

/** Says in words of ours why a decision was refused. */
export function explain(error: unknown): void {
  if (!(error instanceof CallError)) throw error
  if (error.code === 'stale_preview') {
    const fresh = freshRequest(error.details)
    // One without a document comes to the desk by itself.
    if (fresh?.document_id) useReview.setState((state) => applyRequest(state, fresh))
    return toast('The suggestion changed while you looked. Check it again.')
  }
  toast(wordsFor(error))
  getCurrent()?.redraw()
}
