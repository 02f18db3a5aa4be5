/**
 * One open document: joins it, keeps text and pending changes in step with the server, sends what
 * is typed, survives breaks.
 */
import { receiveUpdates } from '@codemirror/collab'
import type { ChangeSet, EditorState, Transaction } from '@codemirror/state'
import { EditorView, type ViewUpdate } from '@codemirror/view'
import { CallError, type Wire } from '../wire/socket.ts'
import type {
  DocumentSettings,
  DocumentUpdates,
  Opened,
  ToolApprovalRequest,
  ToolApprovalResolved,
  WholeDocument,
} from '../wire/generated.ts'
import { setOpenDocument, type EditorSetup } from './openDocument.ts'
import { type DocumentEvents, Emitter } from './events.ts'
import { projected } from './effects.ts'
import { inFull, isOlder, type QueuedEvent, type SettingsEvent } from './queuedEvent.ts'
import { namesByHeading } from './headingTitle.ts'
import {
  inServerText,
  isSettled,
  modeParts,
  plainText,
  suggestedIn,
  unconfirmed,
} from './suggesting/field.ts'
import type { Suggester } from './suggester.ts'
import { type LaterUpdate, newId, type UnsentEdit } from './unsent/unsentEdit.ts'
import {
  showClosed,
  showEnd,
  showOpen,
  showOpening,
  showSaved,
  useOpenDocument,
} from './useOpenDocument.ts'
import { CompositionHold, touchesCaretLine } from './compositionHold.ts'
import { OutOfStep, ConfirmedDocument, isOutOfStep } from './confirmedDocument.ts'
import { listen } from './listen.ts'
import { Sender, unsentOf } from './sender.ts'
import { hasHash } from './textHash.ts'
import { TextWatcher } from './textWatcher.ts'
import { type Mode, rememberedMode } from './modes.ts'

const RETRY_MS = 1_000

/** Fetched beside the text, which is there before it. */
const guard = import('./guard.ts')

export class LiveDocument {
  readonly view = new EditorView()
  readonly events = new Emitter<DocumentEvents>()
  /** The server's side of it; `null` until it is loaded. */
  confirmed: ConfirmedDocument | null = null
  /** While the person suggests. */
  suggester: Suggester | null = null
  /** Names this editor to the server. */
  clientID = ''
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
  /** The number that stands for this document in short updates. */
  private shortId: number | undefined
  private readonly sender = new Sender(this)
  /** Set while the server still has the text that we have, and went on from there. */
  private isSameText = true
  /** Names what is typed over the present copy, where it is kept. */
  private unsentId = newId()
  private readonly composition = new CompositionHold<QueuedEvent>(
    () => this.view.compositionStarted,
    (message) => (this.joined ? this.deliver(message) : this.queue.push(message)),
    () => void this.sender.push(),
  )
  private readonly stops: (() => void)[]
  private readonly watch = new TextWatcher(this.view)

  constructor(
    readonly id: string,
    readonly wire: Wire,
    private readonly editorState: (setup: EditorSetup) => EditorState,
  ) {
    showOpening(id)
    this.stops = listen(this, wire)
    void guard.then((it) => this.closed || this.stops.push(it.guardUnsent(id, () => this.unsent())))
    setOpenDocument(this)
    if (wire.connected) void this.join()
  }

  /** The server's version that the text is of, once everything typed has arrived. */
  get version(): number {
    return this.confirmed?.version ?? 0
  }

  /** Returns whether the server's answer to a push would be followed by the updates of the text. */
  get hears(): boolean {
    return this.joined && !this.composition.isHolding
  }

  /** The server's side while we are in step with it. */
  inStep(): ConfirmedDocument | null {
    return this.joined ? this.confirmed : null
  }

  /** Returns whether everything typed here has reached the server. */
  get settled(): boolean {
    return this.confirmed === null || isSettled(this.view.state)
  }

  close(): void {
    this.closed = true
    this.stops.forEach((stop) => stop())
    setOpenDocument(null)
    this.watch.stop()
    if (!this.settled) {
      const sent = this.joined ? this.sender.sendLast() : null
      const unsent = this.unsent()
      void guard.then(({ keepLastWords }) => keepLastWords(this.id, unsent, sent))
    }
    this.suggester?.stop()
    this.pause()
    if (this.wire.connected)
      void this.wire.call('document:close', { documentId: this.id }).catch(() => undefined)
    this.view.destroy()
    this.events.emit('closed', undefined)
    showClosed()
  }

  /** Opens, or catches up after a break; the server answers with everything in one message. */
  async join(): Promise<void> {
    if (this.joining || this.closed) return
    this.joining = true
    this.pause()
    this.queue = []
    let isOld = false
    try {
      isOld = !(await this.ask(this.confirmed?.version))
    } catch (error) {
      if (isOutOfStep(error)) await this.reload()
      else this.cannotOpen(error)
    } finally {
      this.joining = false
    }
    if (isOld && this.wire.connected) await this.join()
  }

  /**
   * Asks for the document, or for what is new in it. A word that is being composed is done before
   * the answer is shown; `false`: we were disconnected meanwhile, and the answer is of no use.
   */
  private async ask(since?: number): Promise<boolean> {
    const opened = await this.wire.call('document:open', {
      documentId: this.id,
      ...(since !== undefined && { since }),
    })
    const { pauses } = this
    await this.composition.ended()
    if (pauses !== this.pauses) return false
    this.opened(opened)
    return true
  }

  /** Shows changes as the server has just said they are. */
  redraw(): void {
    if (!this.confirmed) return
    if (suggestedIn(this.view.state)) return this.suggester?.step([])
    this.view.dispatch({ effects: projected(this.confirmed, this.unconfirmed()) })
  }

  /** Goes into another mode; everything typed has arrived. */
  enter(mode: Mode): void {
    const { view, suggester, confirmed, clientID } = this
    this.suggester = null
    if (suggester) suggester.leave(mode === 'editing')
    else if (confirmed)
      view.dispatch({
        effects: modeParts.reconfigure(plainText(confirmed.version, clientID, mode === 'editing')),
      })
    // Until what is suggested is there, the text can only be read.
    if (mode === 'suggesting') void this.suggest([])
  }

  private opened(opened: Opened): void {
    if (this.closed) return
    // An owner has given us another role meanwhile: whether we may type is part of the editor.
    if (!opened.document && useOpenDocument.getState().role !== opened.role)
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
    if (opened.title !== undefined) useOpenDocument.setState({ title: opened.title })
    const settings = opened.document?.settings ?? opened.settings
    if (settings) this.configure(settings)
    const { member, role, file } = opened
    useOpenDocument.setState({ member, role, file: file ?? null })
    this.events.emit('opened', opened)
    if (useOpenDocument.getState().mode === 'suggesting') void this.suggest(opened.requests)
    this.redraw()
    void this.goOn(opened.hash)
  }

  /** Fetched when it is first used; the document is opened again then. */
  private async suggest(requests: readonly ToolApprovalRequest[]): Promise<void> {
    if (this.suggester) return this.suggester.opened(requests)
    const { Suggester } = await import('./suggester.ts')
    if (this.closed || this.suggester) return
    this.suggester = new Suggester(this)
    await this.join()
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
    if (!isSame) return this.reload({ isSameText: false })
    this.joined = true
    this.queue
      .splice(0)
      .filter((message) => !isOlder(message, this.confirmed!.version))
      .forEach((message) => this.take(message))
    void this.sender.push()
  }

  /** The ranges are of our version. */
  private configure(settings: DocumentSettings): void {
    this.confirmed!.frozen = settings.frozen
    useOpenDocument.setState({ settings })
  }

  /** A fresh copy. What was typed and never arrived is kept aside and offered back. */
  private load(document: WholeDocument, { clientID, role }: Opened): void {
    const isFirst = this.confirmed === null
    const mode = rememberedMode(this.id, role)
    const copy = mode === 'suggesting' ? null : this.suggester?.copy()
    const lost = copy ? [copy] : this.lost()
    if (mode !== 'suggesting') this.suggester = this.suggester?.stop() ?? null
    this.clientID = clientID
    this.unsentId = newId()
    this.confirmed = new ConfirmedDocument(document.text, document.version)
    this.view.setState(
      this.editorState({
        ...document,
        clientID,
        writable: mode === 'editing',
        onUpdate: [
          EditorView.updateListener.of((update) => this.changed(update)),
          namesByHeading(this.id, this.wire),
        ],
      }),
    )
    showOpen({ ...document, role, mode }, lost)
    if (isFirst) void guard.then(({ takeKept }) => takeKept(this.id))
    // What is shown of the text before stays until its changes are drawn.
    if (isFirst) this.watch.read()
    else this.watch.readSoon()
  }

  take(message: QueuedEvent): void {
    if (!this.joined) return void this.queue.push(message)
    // Short updates come of all documents that are open.
    if ('short' in message && message.short[0] !== this.shortId) return
    const { version } = this.confirmed!
    const disturbs = () => touchesCaretLine(this.view.state, version, message)
    if (!this.composition.keep(message, disturbs)) this.deliver(message)
  }

  private deliver(message: QueuedEvent): void {
    try {
      if ('updates' in message) this.apply(message.updates)
      else if ('short' in message) this.apply(inFull(message.short, this.id))
      else if ('request' in message) this.announce(message.request)
      else if ('done' in message) this.resolve(message.done)
      else if ('settings' in message) this.reconfigure(message)
      else this.events.emit('requestUpdated', message.update)
      if ('update' in message) this.suggester?.updated(message.update)
      this.events.emit('delivered', undefined)
    } catch (error) {
      if (!isOutOfStep(error)) throw error
      console.warn('out of step, loading anew:', error.message)
      void this.reload()
    }
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
    const isSuggesting = suggestedIn(state) !== undefined
    const changes: ChangeSet[] = []
    const steps: Transaction[] = []
    for (const update of updates.slice(known)) {
      changes.push(confirmed.commit(update))
      if (isSuggesting) continue
      const step = receiveUpdates(state, [{ changes: changes.at(-1)!, clientID: update.clientID }])
      steps.push(step)
      state = step.state
    }
    if (hunks) {
      confirmed.change(hunks)
      this.events.emit('hunksChanged', hunks)
    }
    if (isSuggesting) this.suggester?.step(changes)
    else {
      steps.push(state.update({ effects: projected(confirmed, unconfirmed(state)) }))
      this.view.dispatch(steps)
    }
    showSaved(this.settled, this.wire.connected)
  }

  private announce(request: ToolApprovalRequest): void {
    this.confirmed!.add(request)
    this.suggester?.announced(request)
    this.events.emit('requested', request)
    this.redraw()
  }

  private reconfigure({ settings, version }: SettingsEvent): void {
    if (version !== this.confirmed!.version)
      throw new OutOfStep(`settings at version ${version}, we are at ${this.confirmed!.version}`)
    this.configure(settings)
    this.redraw()
  }

  private resolve(done: ToolApprovalResolved): void {
    this.events.emit('resolved', done)
    this.suggester?.resolved(done)
    this.confirmed!.drop((hunk) => hunk.request_id === done.request_id)
    this.redraw()
  }

  private changed(update: ViewUpdate): void {
    this.watch.changed(update)
    this.events.emit('updated', update)
    if (update.docChanged) {
      showSaved(this.settled, this.wire.connected)
      void this.sender.push()
    }
  }

  private pause(): void {
    this.composition.clear()
    this.joined = false
    this.pauses += 1
  }

  async reload({ isSameText } = { isSameText: true }): Promise<void> {
    if (this.closed) return
    this.pause()
    this.isSameText = isSameText
    await this.ask().catch((error: unknown) => this.cannotOpen(error))
  }

  leave(): void {
    this.pause()
    this.events.emit('disconnected', undefined)
    showSaved(this.settled, this.wire.connected)
  }

  /**
   * Returns the updates of the text from a version on, up to our copy; `null`: they are not known
   * any more.
   */
  async updatesSince(version: number): Promise<readonly LaterUpdate[] | null> {
    if (this.confirmed?.version === version) return []
    const answer = await this.wire.call('document:resync', { documentId: this.id, version })
    this.shortId = answer.shortId
    const { laterUpdates } = await import('./laterUpdates.ts')
    return this.confirmed && laterUpdates(answer, version, this.confirmed)
  }

  /** Returns what was typed and has not arrived. */
  private unsent(): UnsentEdit | null {
    const { confirmed, view } = this
    return confirmed && unsentOf(view.state, confirmed, this.unsentId)
  }

  /** The document was deleted. */
  ended(): void {
    showEnd(this.lost())
  }

  private lost(): UnsentEdit[] {
    return [this.unsent() ?? []].flat().map((it) => (this.isSameText ? it : { ...it, base: null }))
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

  /** Changes that were typed over the server's text and have not arrived. */
  unconfirmed(): ChangeSet[] {
    return unconfirmed(this.view.state)
  }

  /** Maps a position of the text that is shown to the server's text. */
  inServerText(at: number): number {
    return inServerText(this.view.state, at)
  }
}
