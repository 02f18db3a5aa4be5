/**
 * Decisions go to the server, which applies them; here they are asked for, and their answers
 * explained.
 */
import { EditorView } from '@codemirror/view'
import { openDocument } from '../../document/openDocument.ts'
import { useSession, wire } from '../../session/store.ts'
import { dismissAbout, toast } from '../../ui/toasts.ts'
import { plural } from '../../ui/timeFormat.ts'
import { CallError } from '../../wire/socket.ts'
import type {
  ToolApprovalRequest,
  ToolApprovalResponse,
  Approvals,
  Decided,
  DecisionResult,
  Hunk,
  Remember,
} from '../../wire/generated.ts'
import { wordsFor } from '../state/decisionErrors.ts'
import { votedWords } from '../state/permissions.ts'
import { activate } from '../text/inView.ts'
import { activeHunk, asItIs } from '../text/reviewField.ts'
import { canSplit, currentText, isMoved, isOpen, isPartOf } from '../state/hunk.ts'
import { noteOutcomeHeard } from '../text/pressing.ts'
import { decidedHere, followResolved, leaveApproved } from '../text/resolved.ts'
import { clearBusy, markBusy } from '../stores/busy.ts'
import { keptEdits, useDrafts, writeDraft } from '../stores/drafts.ts'
import { snippet } from '../state/snippet.ts'
import { noteAccept } from '../stores/remarks.ts'
import { explain, once } from './explain.ts'
import {
  acceptance,
  acceptanceOfAll,
  hashOf,
  type DecisionExtras,
  rejection,
  type SeenText,
} from '../state/responses.ts'
import {
  DECISION_TOAST,
  type DecisionEffect,
  effectOf,
  offerUndo,
  rememberAct,
  rememberDecision,
} from './undo.ts'
import { useRequests } from '../stores/requests.ts'

/** Accepts a change with the words given, or else with the edit of it that is kept. */
export async function acceptHunk(hunk: Hunk, more: DecisionExtras = {}): Promise<boolean> {
  const words = { text: keptEdits()[hunk.id], ...more }
  const state = openDocument()?.view.state
  const pieces = state ? snippet(asItIs(state, hunk), state.doc) : []
  const accept = { hunk, at: performance.now(), pieces }
  const done = await decide(namedBy(hunk, more), acceptance(hunk, words, seenText(hunk)))
  if (done) noteAccept(accept)
  return done
}

/** A conflicted change is only applied over words that the person has in view. */
export function seenText(shown: Hunk): SeenText {
  const state = openDocument()?.view.state
  if (!state || shown.status !== 'conflict') return {}
  return { force: true, seen: currentText(asItIs(state, shown), state.doc) }
}

export function rejectHunk(hunk: Hunk, more: DecisionExtras = {}): Promise<boolean> {
  return decide(namedBy(hunk, more), rejection(hunk, more))
}

/** Decides about all changes of a request that are open. */
export const decideAll = (
  request: ToolApprovalRequest,
  response: ToolApprovalResponse,
): Promise<boolean> => decide(openIds(request), response)

export const acceptAll = (request: ToolApprovalRequest, wish?: Remember): Promise<boolean> =>
  decideAll(request, {
    ...acceptanceOfAll(request, '', keptEdits()),
    ...(wish && { remember: wish }),
  })

const openIds = (request: ToolApprovalRequest): string[] =>
  request.hunks.filter((hunk) => isOpen(hunk.status)).map((hunk) => hunk.id)

/** The changes a decision is about: the one, or with it all that are open. */
function namedBy(hunk: Hunk, { rest }: DecisionExtras): string[] {
  const request = useRequests.getState().requests[hunk.request_id]
  return rest && request ? [...new Set([hunk.id, ...openIds(request)])] : [hunk.id]
}

/** With the preview that is on the screen. */
function asShown(response: ToolApprovalResponse): ToolApprovalResponse {
  const shown = useRequests.getState().requests[response.request_id]?.preview_hash
  return { ...response, ...(shown && { preview_hash: shown }) }
}

function decide(ids: string[], response: ToolApprovalResponse): Promise<boolean> {
  return sendDecision(
    ids.length > 0 ? ids : [response.request_id],
    () => wire.call('tool_approval_response', asShown(response)),
    ({ hunks }) => effectOf(response.request_id, ids, hunks, myself()),
    (decided, done) => {
      forgetSent(response)
      const approvals = approvalsOf(response.request_id, decided, ids)
      if (approvals && approvals.need > 1) showOwnApproval(approvals, ids, done)
      else goToNextChange(ids, offerUndo(done))
      return true
    },
  )
}

/** Sends a decision, keeps its effects for undo, and does what follows from the answer. */
async function sendDecision<Answer>(
  keys: readonly string[],
  call: () => Promise<Answer>,
  effectsOf: (answer: Answer) => DecisionEffect[],
  follow: (answer: Answer, done: readonly DecisionEffect[]) => boolean,
): Promise<boolean> {
  if (!markBusy(keys)) return false
  const answer = call()
  const effects = answer.then(effectsOf)
  rememberDecision(effects.catch(() => []))
  try {
    const [decided, done] = [await answer, await effects]
    clearBusy(keys)
    return follow(decided, done)
  } catch (error) {
    clearBusy(keys)
    explain(error)
    showOthersDecision(keys)
    return false
  }
}

/** Subject of the toast that says that an edit is kept. */
export const EDIT_TOAST = 'edit'

/** Edits that were sent with a decision are not kept any more. */
function forgetSent({ hunks = [] }: ToolApprovalResponse): void {
  const { written } = useDrafts.getState()
  for (const { id, text } of hunks)
    if (text !== undefined && written[id] === text) {
      writeDraft(id, null)
      dismissAbout(EDIT_TOAST)
    }
}

/** Moves on to the next change for a person who decided the one that they look at. */
function goToNextChange(ids: readonly string[], said: string): void {
  const view = openDocument()?.view
  if (view) decidedHere(view, ids, said)
}

/** Another person was first: the change stays in view, and says so. */
function showOthersDecision(ids: readonly string[]): void {
  const view = openDocument()?.view
  if (!view) return
  noteOutcomeHeard(ids)
  followResolved(view)
}

/** Of several changes, the approvals of the one that needs most more. */
const neediest = (all: readonly Approvals[]): Approvals | undefined =>
  all.toSorted((a, b) => b.need - b.have - (a.need - a.have))[0]

/** The approvals of the changes that are still open: their own, or those of their request. */
function approvalsOf(
  request_id: string,
  { approvals, hunks }: Pick<Decided, 'approvals' | 'hunks'>,
  asked: readonly string[],
): Approvals | undefined {
  const known = useRequests.getState().requests[request_id]?.hunks
  const open = hunks.filter((hunk) => asked.includes(hunk.id) && isOpen(hunk.status))
  return neediest(
    open.map((hunk) => {
      const own = hunk.approvals ?? known?.find(({ id }) => id === hunk.id)?.approvals
      return own ?? approvals
    }),
  )
}

/** Accepted, and waits for others who have to accept it too. */
function showOwnApproval(
  approvals: Approvals,
  ids: readonly string[],
  done: readonly DecisionEffect[],
): void {
  // A request that is no change of the text has no rows to say it.
  const said = offerUndo(done, approvals) || votedWords(approvals)
  if (done.length === 0) toast(said, { about: DECISION_TOAST })
  const view = openDocument()?.view
  if (view) leaveApproved(view, ids, said)
}

const myself = (): string | undefined => useSession.getState().me?.user.id

/**
 * Makes a change of several parts one change for each part. Nothing is decided by it; until then it
 * can be taken back.
 */
export async function splitHunk(hunk: Hunk): Promise<boolean> {
  if (!canSplit(hunk)) {
    toast(whyWhole(hunk), { about: SPLIT_TOAST })
    return false
  }
  const { request_id, id: hunk_id } = hunk
  if (!(await once([hunk_id], () => wire.call('approval:split', { request_id, hunk_id }))))
    return false
  const said = `Split into ${plural(hunk.parts.length, 'change')}.`
  rememberAct(request_id, { split: hunk_id }, said)
  goToPart(hunk, said)
  return true
}

/** Subject of the toast that says why a change stays whole. */
const SPLIT_TOAST = 'split'

const whyWhole = (hunk: Hunk): string =>
  isMoved(hunk) && hunk.parts.length > 1
    ? 'Words that move are one change; it can’t be split.'
    : 'Nothing to split.'

/**
 * Goes to the first part, and says that there are several now; to a person who went elsewhere
 * meanwhile it is only announced.
 */
function goToPart(whole: Hunk, said: string): void {
  const view = openDocument()?.view
  if (!view) return
  const active = activeHunk(view.state)
  if (active && isPartOf(active, whole)) activate(view, active, { after: said })
  else view.dispatch({ effects: EditorView.announce.of(said) })
}

/** Several requests in one message; each is decided on its own, and what could not be is said. */
export function decideBatch(
  requests: readonly ToolApprovalRequest[],
  responseTo: (request: ToolApprovalRequest) => ToolApprovalResponse,
): Promise<boolean> {
  return sendBatch(
    requests.map((request) => ({ response: responseTo(request), ids: openIds(request) })),
  )
}

/** Several changes, of whichever requests, in one message. */
export function decideTogether(
  hunks: readonly Hunk[],
  decision: 'accept' | 'reject',
): Promise<boolean> {
  const requests = [...new Set(hunks.map((hunk) => hunk.request_id))]
  return sendBatch(
    requests.map((request_id) => {
      const own = hunks.filter((hunk) => hunk.request_id === request_id)
      const ids = own.map(({ id }) => id)
      const edits = decision === 'accept' ? keptEdits() : {}
      const named = own.map((hunk) => ({
        id: hunk.id,
        decision,
        text: edits[hunk.id],
        ...hashOf(hunk),
      }))
      return { ids, response: { request_id, approved: decision === 'accept', hunks: named } }
    }),
  )
}

interface Asked {
  response: ToolApprovalResponse
  ids: readonly string[]
}

function sendBatch(asked: readonly Asked[]): Promise<boolean> {
  const keys = asked.flatMap(({ ids }) => ids)
  const responses = asked.map(({ response }) => asShown(response))
  return sendDecision(
    keys,
    () => wire.call('tool_approval_batch', { responses }),
    ({ results }) =>
      results.flatMap((result) => {
        const one = asked.find(({ response }) => response.request_id === result.request_id)
        return result.ok && one ? effectOf(result.request_id, one.ids, result.hunks, myself()) : []
      }),
    ({ results }, done) => followBatch(asked, results, keys, done),
  )
}

/** Shows what became of several requests; `false`: none could be decided. */
function followBatch(
  asked: readonly Asked[],
  results: readonly DecisionResult[],
  keys: readonly string[],
  done: readonly DecisionEffect[],
): boolean {
  for (const { response } of asked)
    if (results.some((result) => result.ok && result.request_id === response.request_id))
      forgetSent(response)
  const voted = results.flatMap((result) =>
    result.ok ? (approvalsOf(result.request_id, result, keys) ?? []) : [],
  )
  const said = offerUndo(done, neediest(voted))
  goToNextChange(keys, said)
  const view = openDocument()?.view
  if (view && done.some(({ voted }) => voted.length > 0)) leaveApproved(view, keys, said)
  const lost = results.flatMap((result) => (result.ok ? [] : [new CallError(result.error)]))
  if (lost.length > 0)
    toast(`${plural(lost.length, 'suggestion')} could not be decided: ${wordsFor(lost[0]!)}`)
  return lost.length < asked.length
}
