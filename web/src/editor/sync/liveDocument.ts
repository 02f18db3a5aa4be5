/**
 * One open document: joins it, keeps text and pending changes in step with the server, sends what
 * is typed, survives breaks.
 */
import { getSyncedVersion, receiveUpdates, sendableUpdates } from '@codemirror/collab'
import type { ChangeSet, Transaction } from '@codemirror/state'
import { EditorView, type ViewUpdate } from '@codemirror/view'
import { useChat, requested } from '../../chat/store.ts'
import { DocumentPeers } from '../../presence/documentPeers.ts'
import { notifyIfObsolete } from '../../review/state/reopen.ts'
import { followDepth, forgetDecisions } from '../../review/state/undo.ts'
import { followResolved } from '../../review/changes/resolved.ts'
import { announceWritingDone, announceWritingStopped } from '../../review/changes/announcements.ts'
import { reviewField } from '../../review/changes/reviewField.ts'
import {
  applyRequest,
  applyResolved,
  applySnapshot,
  applyUpdate,
  hunksPut,
  useReview,
} from '../../review/state/store.ts'
import { CallError, type Wire } from '../../wire/socket.ts'
import type {
  ToolApprovalRequest,
  ToolApprovalResolved,
  ToolApprovalUpdate,
  DocumentSettings,
  DocumentUpdates,
  Opened,
  ShortUpdates,
  WholeDocument,
} from '../../wire/generated.ts'
import { setActiveDocument } from './activeDocument.ts'
import { showEnd, showOpen, showSaved } from './phase.ts'
import { projected } from './projection.ts'
import { isOlder, type QueuedEvent, type SettingsEvent } from './queuedEvent.ts'
import { editorState } from '../extensions.ts'
import { namesByHeading } from '../headingTitle.ts'
import { takeUnsent } from './unsentStorage.ts'
import { canWrite, useDocument } from '../store.ts'
import { OutOfStep, ConfirmedDocument, isOutOfStep } from './confirmedDocument.ts'
import { sendable, sendLastWords, unconfirmed, unsentWords, guardUnsent } from './unsent.ts'
import { hasHash } from './textHash.ts'
import { TextWatcher } from '../textWatcher.ts'

/** A long time offline is sent in pieces that stay well below the server's message limit. */
const PUSH_AT_MOST = 200
const RETRY_MS = 1_000

/** Answers to a push that do not get better by waiting. */
const REFUSED = new Set(['resync', 'invalid_payload', 'not_allowed', 'not_found'])

export class LiveDocument {
  readonly view = new EditorView()
  confirmed: ConfirmedDocument | null = null
  /**
   * False while an answer to `document:open` or `document:resync` is awaited or compared; events
   * wait in `queue`, and what is typed in the editor.
   */
  private joined = false
  private joining = false
  /** Another document may be shown by now: answers that are still awaited change nothing. */
  private closed = false
  /** Number of times that we stopped being joined: a comparison that began before has no say. */
  private pauses = 0
  private queue: QueuedEvent[] = []
  /** What stands for this document in short updates. */
  private shortId: number | undefined
  private pushing = false
  private readonly peers: DocumentPeers
  private readonly stops: (() => void)[]
  private readonly watch = new TextWatcher(this.view)

  constructor(
    readonly id: string,
    private readonly wire: Wire,
  ) {
    this.peers = new DocumentPeers(this, wire)
    const ours =
      <T extends { documentId?: string; document_id?: string | null }>(act: (payload: T) => void) =>
      (payload: T) => {
        if (payload.documentId === id || payload.document_id === id) act(payload)
      }
    this.stops = [
      wire.on('sessionRegistered', () => void this.join()),
      wire.onDisconnect(() => this.leave()),
      wire.on(
        'document:updates',
        ours((updates) => this.take({ updates })),
      ),
      wire.on('updates', (short) => this.take({ short })),
      wire.on(
        'tool_approval_request',
        ours((request) => this.take({ request })),
      ),
      wire.on('tool_approval_update', (update) => this.take({ update })),
      wire.on('tool_approval_resolved', (done) => this.take({ done })),
      wire.on(
        'document:changed',
        ours(({ title, settings, version, deleted }) => {
          if (title !== undefined) useDocument.setState({ title })
          if (settings && version !== undefined) this.take({ settings, version })
          if (deleted) showEnd(this.lost())
        }),
      ),
      wire.on(
        'presence:changes',
        ours((changes) => this.peers.change(changes, this.confirmed)),
      ),
      wire.on(
        'presence:update',
        ours((moved) => this.peers.move(moved, this.confirmed)),
      ),
    ]
    this.stops.push(guardUnsent(id, () => this.lost()))
    setActiveDocument(this)
    forgetDecisions()
    if (wire.connected) void this.join()
  }

  get version(): number {
    return this.confirmed?.version ?? 0
  }

  inStep(): ConfirmedDocument | null {
    return this.joined ? this.confirmed : null
  }

  get settled(): boolean {
    return this.confirmed === null || sendableUpdates(this.view.state).length === 0
  }

  close(): void {
    this.closed = true
    this.stops.forEach((stop) => stop())
    this.peers.stop()
    setActiveDocument(null)
    this.watch.stop()
    if (!this.settled) sendLastWords(this.view.state, this.id, this.joined ? this.wire : null)
    this.pause()
    if (this.wire.connected)
      void this.wire.call('document:close', { documentId: this.id }).catch(() => undefined)
    this.view.destroy()
  }

  /** Opens, or catches up after a break; the server answers with everything in one message. */
  async join(): Promise<void> {
    if (this.joining || this.closed) return
    this.joining = true
    this.pause()
    this.queue = []
    try {
      this.opened(
        await this.wire.call('document:open', {
          documentId: this.id,
          ...(this.confirmed && { since: this.confirmed.version }),
        }),
      )
    } catch (error) {
      if (isOutOfStep(error)) await this.reload()
      else this.cannotOpen(error)
    } finally {
      this.joining = false
    }
  }

  redraw(): void {
    if (!this.confirmed) return
    this.view.dispatch({ effects: projected(this.confirmed, this.unconfirmed()) })
  }

  private opened(opened: Opened): void {
    if (this.closed) return
    // An owner has given us another role meanwhile: whether we may type is part of the editor.
    if (!opened.document && this.view.state.readOnly === canWrite(opened.role))
      return void this.reload()
    this.shortId = opened.shortId
    if (opened.document) this.load(opened.document, opened)
    else
      this.apply({
        documentId: this.id,
        from: opened.from ?? this.confirmed!.version,
        updates: opened.updates ?? [],
      })
    const misfits = this.confirmed!.replace(
      opened.requests,
      opened.streaming.flatMap(({ hunks }) => hunks),
    )
    if (misfits.length > 0) console.warn('requests that do not fit this version', misfits)
    if (opened.title !== undefined) useDocument.setState({ title: opened.title })
    const settings = opened.document?.settings ?? opened.settings
    if (settings) this.configure(settings)
    useReview.setState((state) => applySnapshot(state, opened.requests, opened.streaming))
    useChat.setState((chat) => opened.requests.reduce(requested, chat))
    this.redraw()
    const { member, role, file } = opened
    useDocument.setState({ member, role, file: file ?? null })
    this.peers.see(opened.peers, this.confirmed, opened.peerCount)
    void this.goOn(opened.hash)
  }

  /**
   * Takes events and sends what was typed, once our text has the hash of an answer with updates. It
   * has another one if the server was restored from an older backup, and then grew past our version
   * again. What was typed would go into wrong places then: it is offered back.
   */
  private async goOn(hash?: string): Promise<void> {
    const { pauses } = this
    const isSame = hash === undefined || (await hasHash(this.confirmed!.doc.toString(), hash))
    if (pauses !== this.pauses) return
    if (!isSame) return this.reload()
    this.joined = true
    this.queue
      .splice(0)
      .filter((message) => !isOlder(message, this.confirmed!.version))
      .forEach((message) => this.take(message))
    void this.push()
  }

  /** The ranges are of our version. */
  private configure(settings: DocumentSettings): void {
    this.confirmed!.frozen = settings.frozen
    useDocument.setState({ settings })
  }

  /** A fresh copy. What was typed and never arrived is kept aside and offered back. */
  private load(document: WholeDocument, { clientID, role }: Opened): void {
    const lost = this.confirmed ? this.lost() : takeUnsent(localStorage, this.id)
    this.confirmed = new ConfirmedDocument(document.text, document.version)
    this.view.setState(
      editorState({
        ...document,
        clientID,
        writable: canWrite(role),
        onUpdate: [
          EditorView.updateListener.of((update) => this.changed(update)),
          namesByHeading(this.id, this.wire),
        ],
      }),
    )
    showOpen({ ...document, role }, lost)
    this.watch.read()
  }

  private take(message: QueuedEvent): void {
    if (!this.joined) return void this.queue.push(message)
    try {
      if ('updates' in message) this.apply(message.updates)
      else if ('short' in message) this.applyShort(message.short)
      else if ('request' in message) this.announce(message.request)
      else if ('done' in message) this.resolve(message.done)
      else if ('settings' in message) this.reconfigure(message)
      else this.receiveRequestUpdate(message.update)
      followResolved(this.view)
    } catch (error) {
      if (!isOutOfStep(error)) throw error
      console.warn('out of step, loading anew:', error.message)
      void this.reload()
    }
  }

  /** Short updates name their document by the number that the answer to `document:open` gave it. */
  private applyShort([shortId, from, updates]: ShortUpdates): void {
    if (shortId !== this.shortId) return
    this.apply({
      documentId: this.id,
      from,
      updates: updates.map(([clientID, changes]) => ({ clientID, changes })),
    })
  }

  /**
   * One `receiveUpdates` for each update, all shown at once: words and changes never disagree on
   * screen.
   */
  private apply({ from, updates, hunks }: DocumentUpdates): void {
    const confirmed = this.confirmed!
    const known = confirmed.version - from
    if (known < 0) return void this.join()
    if (known > updates.length || (known > 0 && known === updates.length)) return
    let state = this.view.state
    const steps: Transaction[] = []
    for (const update of updates.slice(known)) {
      const step = receiveUpdates(state, [
        { changes: confirmed.commit(update), clientID: update.clientID },
      ])
      steps.push(step)
      state = step.state
    }
    if (hunks) {
      confirmed.change(hunks)
      useReview.setState((all) => hunksPut(all, hunks.put))
    }
    steps.push(state.update({ effects: projected(confirmed, unconfirmed(state)) }))
    this.view.dispatch(steps)
    showSaved(this.settled, this.wire.connected)
  }

  private announce(request: ToolApprovalRequest): void {
    this.confirmed!.add(request)
    announceWritingDone(this.view, request)
    useReview.setState((state) => applyRequest(state, request))
    useChat.setState((chat) => requested(chat, request))
    this.redraw()
  }

  /** A request changed, or a change that the AI is still writing. */
  private receiveRequestUpdate(update: ToolApprovalUpdate): void {
    announceWritingStopped(this.view, update)
    useReview.setState((state) => applyUpdate(state, update))
  }

  private reconfigure({ settings, version }: SettingsEvent): void {
    if (version !== this.confirmed!.version)
      throw new OutOfStep(`settings at version ${version}, we are at ${this.confirmed!.version}`)
    this.configure(settings)
    this.redraw()
  }

  private resolve(done: ToolApprovalResolved): void {
    notifyIfObsolete(useReview.getState().requests[done.request_id], done)
    useReview.setState((state) => applyResolved(state, done))
    this.confirmed!.drop((hunk) => hunk.request_id === done.request_id)
    this.redraw()
  }

  private changed(update: ViewUpdate): void {
    this.watch.changed(update)
    if (update.docChanged) {
      followDepth(update.state)
      showSaved(this.settled, this.wire.connected)
      void this.push()
    }
    if (update.selectionSet || update.docChanged || update.focusChanged) this.peers.want()
    const before = update.startState.field(reviewField, false)
    if (update.state.field(reviewField, false) !== before) this.watch.hunks()
  }

  private async push(): Promise<void> {
    if (this.pushing || !this.joined || this.confirmed === null) return
    const version = getSyncedVersion(this.view.state)
    const updates = sendable(this.view.state).slice(0, PUSH_AT_MOST)
    if (updates.length === 0) return
    this.pushing = true
    try {
      await this.wire.call('document:push', { documentId: this.id, version, updates })
      this.peers.want()
      if (this.confirmed.version === version)
        throw new CallError({ code: 'timeout', message: 'Sent, but not heard back.' })
    } catch (error) {
      await this.pushFailed(error)
    } finally {
      this.pushing = false
    }
    void this.push()
  }

  private async pushFailed(error: unknown): Promise<void> {
    const code = error instanceof CallError ? error.code : 'unknown'
    if (code === 'offline') return
    // The server will never take these words as they are: load its text and give the words back to
    // the writer.
    if (REFUSED.has(code)) return this.reload()
    await new Promise((resume) => setTimeout(resume, RETRY_MS))
    if (code === 'timeout' && this.wire.connected) await this.join()
  }

  private pause(): void {
    this.joined = false
    this.pauses += 1
  }

  private async reload(): Promise<void> {
    if (this.closed) return
    this.pause()
    try {
      this.opened(await this.wire.call('document:open', { documentId: this.id }))
    } catch (error) {
      this.cannotOpen(error)
    }
  }

  private leave(): void {
    this.pause()
    this.peers.leave(this.confirmed)
    showSaved(this.settled, this.wire.connected)
  }

  /** What was typed and has not arrived. */
  private lost(): string[] {
    return this.confirmed ? unsentWords(this.unconfirmed()) : []
  }

  private cannotOpen(error: unknown): void {
    if (!(error instanceof CallError)) throw error
    if (this.closed || error.code === 'offline') return
    if (error.code === 'not_found') return showEnd(this.lost())
    if (this.confirmed !== null && error.code !== 'not_allowed')
      return void setTimeout(() => this.wire.connected && void this.join(), RETRY_MS)
    showEnd(this.lost(), error)
    this.confirmed = null
  }

  unconfirmed(): ChangeSet[] {
    return unconfirmed(this.view.state)
  }
}
