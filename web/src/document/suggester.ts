/**
 * Suggesting: what a person types, deletes and pastes becomes a suggestion of theirs. They see the
 * text with it; the server gets the change from its text to that one.
 */
import { isolateHistory, undoDepth } from '@codemirror/commands'
import { ChangeSet, type ChangeSpec, Transaction } from '@codemirror/state'
import { CallError } from '../wire/socket.ts'
import type {
  Hunk,
  HunkState,
  Range,
  SuggestionAnswer,
  ToolApprovalRequest,
  ToolApprovalResolved,
} from '../wire/generated.ts'
import { useSession } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { setFrozen, setHunks } from './effects.ts'
import type { LiveDocument } from './liveDocument.ts'
import {
  modeParts,
  plainText,
  setSuggested,
  suggestedField,
  suggestedIn,
} from './suggesting/field.ts'
import { suggestingParts } from './suggesting/parts.ts'
import {
  follow,
  nothingSuggested,
  notSent,
  sending,
  shownHunk,
  type Suggested,
  transition,
  wholeSuggestion,
  withoutSuggestion,
} from './suggesting/suggested.ts'
import { addDecided, type DecidedWords } from './suggesting/undo.ts'
import { newId, type UnsentEdit, unsentEdit } from './unsent/unsentEdit.ts'
import { useOpenDocument } from './useOpenDocument.ts'

/** Least time between two updates. */
const EVERY_MS = 300
const RETRY_MS = 1_000

/** Answers to an update that do not get better by waiting. */
const REFUSED = new Set(['invalid_payload', 'not_allowed', 'not_found'])

/** Of changes that the person does not undo. Nothing may hold them back: the server has them. */
const SERVERS = {
  annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
  filter: false,
}

export class Suggester {
  /** The person's suggestion that can still be decided; its hunks in their order. */
  private request: string | null = null
  private revision = 0
  private order: readonly string[] = []
  /** The hunks that are in the text that is shown. */
  private own: readonly Hunk[] = []
  private isSending = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private lastSent = 0
  private readonly leaving = new AbortController()

  constructor(private readonly document: LiveDocument) {
    const { signal } = this.leaving
    window.addEventListener('pagehide', () => void this.send(), { signal })
  }

  /** All open requests, after the document was opened or caught up with. */
  opened(requests: readonly ToolApprovalRequest[]): void {
    this.know(requests.find(isMine))
    const { view, confirmed } = this.document
    if (!suggestedIn(view.state))
      view.dispatch({
        effects: modeParts.reconfigure([
          suggestedField.init(() => nothingSuggested(confirmed!.doc)),
          suggestingParts({
            effects: (now) => this.shown(now),
            frozen: (now) => this.frozen(now),
          }),
        ]),
      })
    this.step([], 'not taken')
  }

  /** A request of the server's, new or as an answer says it is. */
  announced(request: ToolApprovalRequest): void {
    if (isMine(request)) this.know(request)
  }

  updated({
    request_id,
    revision,
    hunks,
  }: Pick<ToolApprovalResolved, 'request_id' | 'hunks' | 'revision'>): void {
    if (request_id !== this.request || revision === undefined) return
    this.revision = revision
    this.order = inOrder(this.order, hunks)
  }

  resolved({ request_id, status, revision }: ToolApprovalResolved): void {
    if (request_id !== this.request) return
    const now = suggestedIn(this.document.view.state)
    this.know(undefined)
    this.revision = revision ?? 0
    // Taken back, or the person has lost the right to suggest.
    if (now && status === 'cancelled' && !now.sent) offerBack(now.doc, now.own)
  }

  /** Shows what the server says: updates of its text, and the hunks after them. */
  step(updates: readonly ChangeSet[], answer?: 'taken' | 'not taken'): void {
    const { view, confirmed } = this.document
    const now = suggestedIn(view.state)
    if (!now || !confirmed) return
    const own = confirmed.hunks
      .filter((hunk) => this.isOwn(hunk))
      .toSorted((a, b) => this.order.indexOf(a.id) - this.order.indexOf(b.id))
    const { next, changes } = follow(now, updates, own, answer)
    if (!answer && updates.length === 0 && takesFrom(changes, view.state.selection.main.head))
      toast('Rejected: your words at the cursor are gone.', { about: 'suggestion' })
    const decided = answer || next.sent !== now.sent ? [] : this.decided(now, changes)
    this.own = own
    view.dispatch({
      changes,
      effects: [setSuggested.of(next), ...this.shown(next), addDecided.of(decided)],
      ...SERVERS,
      // What is typed from now on is another step.
      ...(decided.length > 0 && {
        annotations: [...SERVERS.annotations, isolateHistory.of('full')],
      }),
    })
  }

  /** Words of the person's hunks that others have decided, after a change of what is shown. */
  private decided({ own }: Suggested, changes: ChangeSet): Omit<DecidedWords, 'words'>[] {
    const { view, confirmed } = this.document
    const depth = undoDepth(view.state)
    const open = new Set(confirmed?.hunks.map(({ id }) => id))
    const place = (at: number, side: -1 | 1) => changes.mapPos(own.mapPos(at, side), side)
    return this.own
      .filter(({ id }) => !open.has(id))
      .flatMap(({ parts }) => parts)
      .map(({ from, to, base }) => ({ from: place(from, -1), to: place(to, 1), base, depth }))
  }

  /** Leaves the server's text, in which the suggestion is drawn like any other. */
  leave(writes: boolean): void {
    const { view, confirmed, clientID } = this.document
    const now = suggestedIn(view.state)
    this.stop()
    // First the text, then what keeps it in step: to that, the change would be typed.
    const first = view.state.update({
      ...(now && { changes: withoutSuggestion(now) }),
      ...SERVERS,
    })
    const parts = plainText(confirmed!.version, clientID, writes)
    view.dispatch([first, first.state.update({ effects: modeParts.reconfigure(parts) })])
    this.document.redraw()
  }

  /** A copy of the whole suggestion, for who has lost the right to suggest. */
  copy(): UnsentEdit | null {
    const now = suggestedIn(this.document.view.state)
    return now ? copyOf(now.doc, wholeSuggestion(now)) : null
  }

  stop(): null {
    clearTimeout(this.timer)
    this.leaving.abort()
    return null
  }

  /** Sends what is typed soon. */
  push(): void {
    if (this.isSending) return
    const pause = Math.max(0, this.lastSent + EVERY_MS - Date.now())
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      void this.send()
    }, pause)
  }

  /** Sends what is typed at once; a word that is being composed is not done yet. */
  async send(): Promise<void> {
    const { view, hears } = this.document
    const now = suggestedIn(view.state)
    if (this.isSending || !hears || !now || now.typed.length === 0) return
    this.lastSent = Date.now()
    if (view.compositionStarted) return this.push()
    this.isSending = true
    const next = sending(now)
    view.dispatch({ effects: setSuggested.of(next) })
    try {
      this.took(await this.call(next))
    } catch (error) {
      await this.failed(error)
    } finally {
      this.isSending = false
    }
    if ((suggestedIn(view.state)?.typed.length ?? 0) > 0) this.push()
  }

  /** Sends the suggestion as it is now. */
  call(now: Suggested): Promise<SuggestionAnswer> {
    const { id, wire, version } = this.document
    return wire.call('suggestion:update', {
      documentId: id,
      version,
      revision: this.revision,
      changes: wholeSuggestion(now).toJSON() as unknown,
    })
  }

  private took({ request_id, revision, version, hunks }: SuggestionAnswer): void {
    const { confirmed, hears } = this.document
    this.request = request_id
    this.revision = request_id === null ? 0 : revision
    this.order = hunks.map(({ id }) => id)
    // The broadcast waits for a word that is being composed: it is known by its words then.
    if (!confirmed || !hears || confirmed.version < version) return
    if (confirmed.version === version) {
      const known = confirmed.hunks.filter(({ request_id }) => request_id === this.request)
      const drop = known.map(({ id }) => id).filter((id) => !this.order.includes(id))
      confirmed.change({ drop, put: hunks })
    }
    this.step([], 'taken')
  }

  private async failed(error: unknown): Promise<void> {
    if (!(error instanceof CallError)) throw error
    const { code, details, message } = error
    switch (code) {
      case 'offline':
        return undefined
      case 'stale_suggestion':
        this.know(details as ToolApprovalRequest | undefined)
        return this.step([], 'not taken')
      case 'frozen':
        return this.takeOut((details as { ranges: Range[] }).ranges)
      case 'timeout':
      case 'resync':
        await new Promise((resume) => setTimeout(resume, RETRY_MS))
        return this.document.wire.connected ? this.document.join() : undefined
    }
    if (REFUSED.has(code)) {
      toast(`This could not be suggested: ${message}`, { about: 'suggestion' })
      return this.document.reload()
    }
    this.step([], 'not taken')
    await new Promise((resume) => setTimeout(resume, RETRY_MS))
  }

  /** Takes what touches frozen words out of the suggestion, and offers it back. */
  private takeOut(ranges: readonly Range[]): void {
    const { view } = this.document
    const now = notSent(suggestedIn(view.state)!)
    const { doc, own, typed } = now
    const whole = wholeSuggestion(now)
    const [kept, out]: [ChangeSpec[], ChangeSpec[]] = [[], []]
    whole.iterChanges((from, to, _fromB, _toB, insert) => {
      const touches = ranges.some((range) => from < range.to && range.from < to)
      ;(touches ? out : kept).push({ from, to, insert })
    })
    // Where it is not clear which words they are: all that was not sent yet.
    const left = out.length > 0 ? ChangeSet.of(kept, doc.length) : own
    const changes = transition(whole, doc, [left])
    if (out.length > 0) offerBack(doc, ChangeSet.of(out, doc.length))
    else typed.forEach((one) => offerBack(own.apply(doc), one))
    const next = notSent({ ...now, typed: [...typed, changes] })
    view.dispatch({
      changes,
      effects: [setSuggested.of(next), ...this.shown(next)],
      ...SERVERS,
    })
    toast('Some of these words are frozen. What you typed there is kept for you.', {
      about: 'suggestion',
    })
  }

  private know(request: ToolApprovalRequest | undefined): void {
    const isOpen = request?.status === 'pending'
    this.request = isOpen ? request.request_id : null
    // Also of one that has ended: over none, the same words would be taken for the same update.
    this.revision = request?.revision ?? 0
    this.order = isOpen ? request.hunks.map(({ id }) => id) : []
  }

  private readonly isOwn = ({ request_id, status }: Hunk): boolean =>
    request_id === this.request && status === 'pending'

  /** Hunks of others, the person's own in conflict and frozen passages, where they are shown. */
  private shown(now: Suggested) {
    const { hunks = [] } = this.document.confirmed ?? {}
    const local = [now.own, ...now.typed]
    const others = hunks.filter((hunk) => !this.isOwn(hunk))
    return [
      setHunks.of(others.map((hunk) => shownHunk(hunk, local))),
      setFrozen.of(this.frozen(now)),
    ]
  }

  private frozen({ own, typed }: Suggested): readonly Range[] {
    return this.document.confirmed?.projectFrozen([own, ...typed]) ?? []
  }
}

/** Returns whether a request is the suggestion that the person writes on. */
const isMine = ({ source, author, revision, status }: ToolApprovalRequest): boolean =>
  source === 'person' &&
  revision !== undefined &&
  status === 'pending' &&
  author.id === useSession.getState().me?.user.id

/** Ids in the order of a newer list, those that are not in it where they were. */
const inOrder = (order: readonly string[], hunks: readonly HunkState[]): readonly string[] => [
  ...order,
  ...hunks.map(({ id }) => id).filter((id) => !order.includes(id)),
]

/** Returns whether the words at a position go. */
function takesFrom(changes: ChangeSet, at: number): boolean {
  let takes = false
  changes.iterChangedRanges((from, to) => (takes ||= from < to && from <= at && at <= to))
  return takes
}

function copyOf(doc: Suggested['doc'], changes: ChangeSet): UnsentEdit | null {
  const edit = unsentEdit({ doc, version: 0 }, [{ changes, clientID: '' }], newId())
  return edit && { ...edit, base: null, suggested: true }
}

/** Keeps words for the person that are no part of the text any more. */
function offerBack(doc: Suggested['doc'], changes: ChangeSet): void {
  const lost = copyOf(doc, changes)
  if (lost) useOpenDocument.setState(({ recovered }) => ({ recovered: [...recovered, lost] }))
}
