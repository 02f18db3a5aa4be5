/**
 * Taking decisions back: from the toast, with Ctrl+Z in the order they were made, or at any later
 * time.
 */
import { isolateHistory, undoDepth } from '@codemirror/commands'
import type { EditorState } from '@codemirror/state'
import { create } from 'zustand'
import { openDocument } from '../../document/openDocument.ts'
import { wire } from '../../session/store.ts'
import { dismissAbout, toast } from '../../ui/toasts.ts'
import { CallError } from '../../wire/socket.ts'
import type { Approvals, HunkState, SeenWords } from '../../wire/generated.ts'
import { activate } from '../text/inView.ts'
import { expectBack } from '../text/pressing.ts'
import { hunksOf } from '../text/reviewField.ts'
import { writeDraft } from '../stores/drafts.ts'
import { explain } from './explain.ts'
import { votedWords } from '../state/permissions.ts'
import { bringBack } from './reopen.ts'
import { isWaitingHunk } from '../state/requests.ts'
import { useRequests } from '../stores/requests.ts'

/** Subject of toasts about the last decision: a newer one takes the place of the older. */
export const DECISION_TOAST = 'decision'

/** The effects of a decision on one request. */
export interface DecisionEffect {
  request_id: string
  accepted: readonly string[]
  rejected: readonly string[]
  /** Approved by us; they wait for others. */
  voted: readonly string[]
  /** The change that was split. */
  split?: string
  /** The request as a whole was approved by us, and waits for others. */
  whole?: boolean
  /** Words that were put in instead of the proposed ones. */
  texts: Readonly<Record<string, string>>
}

/** The words that an undo may overwrite: with `seen`, nothing but those. */
interface Overwriting {
  force: true
  seen?: SeenWords[]
}

/** Returns the effects of a decision, by the answer to it; nothing if others were first. */
export function effectOf(
  request_id: string,
  asked: readonly string[],
  now: readonly HunkState[],
  me?: string,
): DecisionEffect[] {
  const having = (status: HunkState['status']) =>
    now.filter((hunk) => asked.includes(hunk.id) && hunk.status === status).map(({ id }) => id)
  const [accepted, rejected] = [having('accepted'), having('rejected')]
  const voted = now.filter((hunk) => asked.includes(hunk.id) && isVoteOf(hunk, me))
  const texts = Object.fromEntries(
    now.flatMap(({ id, text }) =>
      text !== undefined && accepted.includes(id) ? [[id, text]] : [],
    ),
  )
  const done = { request_id, accepted, rejected, voted: voted.map(({ id }) => id), texts }
  return countOf(done) > 0 ? [done] : []
}

const countOf = ({ accepted, rejected, voted, split }: DecisionEffect): number =>
  accepted.length + rejected.length + voted.length + (split === undefined ? 0 : 1)

const isVoteOf = ({ status, votes = [] }: HunkState, me: string | undefined): boolean =>
  (status === 'pending' || status === 'conflict') && votes.some(({ user }) => user === me)

/** An accepted change whose words were changed since. */
export interface Touched {
  id: string
  stands: string
  restores: string
}

export interface Overwrite {
  request_id: string
  hunks?: readonly string[]
  touched: readonly Touched[]
}

export const useOverwrite = create<{ asked: Overwrite | null }>()(() => ({ asked: null }))

/** The changes that a refused undo names, with both texts of each. */
export function touchedSince(details: unknown): Touched[] {
  const { touched } = (details ?? {}) as { touched?: unknown }
  return Array.isArray(touched) ? (touched as Touched[]) : []
}

interface Act {
  /** Number of steps of one's own typing that could be undone when it was made. */
  depth: number
  done: Promise<readonly DecisionEffect[]>
  /** The effects, once they are known. */
  effects?: readonly DecisionEffect[]
}

/**
 * The decisions made here, oldest first; known from the click on, because the words can change on
 * screen before the answer comes.
 */
let acts: Act[] = []
const MAX_KEPT_ACTS = 500

const typed = (): number => {
  const state = openDocument()?.view.state
  return state ? undoDepth(state) : 0
}

/** Keeps a decision for Ctrl+Z; one that came to nothing is passed over then. */
export function rememberDecision(done: Promise<readonly DecisionEffect[]>): void {
  const act: Act = { depth: typed(), done }
  acts = [...acts, act].slice(-MAX_KEPT_ACTS)
  void done.then((known) => {
    act.effects = known
    if (known.length === 0) acts = acts.filter((other) => other !== act)
  })
  // What is typed from now on is another step than what was typed before.
  openDocument()?.view.dispatch({ annotations: isolateHistory.of('full') })
}

/**
 * Updates of others can take steps of one's own typing away: the decisions come to stand after
 * fewer of them.
 */
export function followDepth(state: EditorState): void {
  const depth = undoDepth(state)
  for (const act of acts) act.depth = Math.min(act.depth, depth)
}

export function forgetDecisions(): void {
  acts = []
}

/** Returns whether a change or a request was decided here, and that was not taken back here. */
export const wasDecidedHere = (about: string): boolean =>
  acts.some(({ effects = [] }) =>
    effects.some(({ request_id, accepted, rejected }) =>
      [request_id, ...accepted, ...rejected].includes(about),
    ),
  )

/** For U: takes the last decision back, whatever was typed since. */
export function undoLastDecision(): boolean {
  const act = acts.at(-1)
  if (!act) return false
  acts = acts.slice(0, -1)
  void act.done.then((done) => (done.length > 0 ? takeBack(done) : void undoLastDecision()))
  return true
}

/** For Ctrl+Z: `false`: something was typed since, and that comes first. */
export function undoLastAct(): boolean {
  const act = acts.at(-1)
  return act !== undefined && act.depth >= typed() && undoLastDecision()
}

/**
 * Says what a decision did, with the way back; answers the words. `approvals`: how many each of the
 * approved changes has and needs.
 */
export function offerUndo(done: readonly DecisionEffect[], approvals?: Approvals): string {
  const said = [decidedWords(done), votedFor(done, approvals)].filter(Boolean).join(' ')
  if (said !== '') offer(said, done)
  return said
}

/** Says it, with the way back. */
function offer(said: string, done: readonly DecisionEffect[]): void {
  const action = { label: 'Undo', run: () => void takeBack(done) }
  toast(said, { about: DECISION_TOAST, action })
}

function decidedWords(done: readonly DecisionEffect[]): string {
  const [accepted, rejected] = [count(done, 'accepted'), count(done, 'rejected')]
  if (accepted + rejected === 0) return ''
  if (accepted + rejected === 1) return accepted === 1 ? 'Accepted.' : 'Rejected.'
  const where = done.length > 1 ? ` in ${done.length} suggestions` : ''
  return `${summary(accepted, rejected)}${where}.`
}

function votedFor(done: readonly DecisionEffect[], approvals: Approvals | undefined): string {
  const voted = count(done, 'voted')
  if (voted === 0 || !approvals) return ''
  return votedWords(approvals, voted === 1 ? 'it' : `${voted} changes`)
}

/**
 * Says that a change was split, or a request approved that waits for others, and keeps that for
 * Ctrl+Z.
 */
export function rememberAct(
  request_id: string,
  act: Pick<DecisionEffect, 'split' | 'whole'>,
  said: string,
): void {
  const done = [{ request_id, accepted: [], rejected: [], voted: [], texts: {}, ...act }]
  rememberDecision(Promise.resolve(done))
  offer(said, done)
}

const count = (done: readonly DecisionEffect[], which: 'accepted' | 'rejected' | 'voted'): number =>
  done.reduce((sum, one) => sum + one[which].length, 0)

function summary(accepted: number, rejected: number): string {
  if (rejected === 0) return `${accepted} changes accepted`
  if (accepted === 0) return `${rejected} changes rejected`
  return `${accepted} accepted and ${rejected} rejected`
}

async function takeBack(done: readonly DecisionEffect[]): Promise<void> {
  acts = acts.filter((act) => act.effects !== done)
  dismissAbout(DECISION_TOAST)
  const ids = done.flatMap(({ accepted, rejected, voted, split }) => [
    ...accepted,
    ...rejected,
    ...voted,
    ...(split === undefined ? [] : [split]),
  ])
  expectBack(ids)
  for (const { request_id, accepted, rejected, voted, split, whole, texts } of done.toReversed()) {
    for (const [id, text] of Object.entries(texts)) writeDraft(id, text)
    if (accepted.length > 0) await undo(request_id, accepted)
    if (rejected.length > 0) await bringBack(request_id, rejected)
    if (voted.length > 0) await takeBackVotes(request_id, voted)
    if (split !== undefined) await undo(request_id, [split])
    if (whole) await takeBackOpenVotes(request_id)
  }
  showAgain(ids)
}

/**
 * Takes our approvals back, of what still waits for others. A change that another person has
 * approved too since is accepted: that is not ours alone to take back by a key.
 */
async function takeBackVotes(request_id: string, voted: readonly string[]): Promise<void> {
  const hunks = useRequests.getState().requests[request_id]?.hunks ?? []
  const open = hunks.filter((hunk) => voted.includes(hunk.id) && isWaitingHunk(hunk))
  if (open.length < voted.length) tooLate()
  const ids = open.map(({ id }) => id)
  if (ids.length > 0) await takeBackOpenVotes(request_id, ids)
}

const tooLate = (): void =>
  toast('Others have decided it since, so your approval can’t be taken back.')

/**
 * Leaves out changes that the server knows as decided: we may not have seen that yet. Without
 * changes it is our approval of the request as a whole.
 */
async function takeBackOpenVotes(request_id: string, hunks?: readonly string[]): Promise<void> {
  const votes = { request_id, ...(hunks && { hunks: [...hunks] }), votes_only: true }
  try {
    await wire.call('approval:undo', votes)
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'already_resolved') return explain(error)
    tooLate()
    const decided = decidedHunk(error.details)
    const rest = hunks?.filter((id) => id !== decided) ?? []
    if (hunks && rest.length > 0 && rest.length < hunks.length)
      await takeBackOpenVotes(request_id, rest)
  }
}

/** The change that a refusal calls decided. */
function decidedHunk(details: unknown): string | undefined {
  const { hunk } = (details ?? {}) as { hunk?: { id: string } | null }
  return hunk?.id
}

/** The first of the changes that are open again. */
function showAgain(ids: readonly string[]): void {
  const view = openDocument()?.view
  const hunk = view && hunksOf(view.state).find(({ id }) => ids.includes(id))
  if (hunk) activate(view, hunk, { after: 'Undone.' })
}

/**
 * Takes accepted changes back, at any later time; over words that were touched since only when the
 * person has seen them and says so again.
 */
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
