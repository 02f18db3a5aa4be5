/** The people in an open document: their carets in our copy, and ours sent to them. */
import { useOpenDocument } from '../document/useOpenDocument.ts'
import type { OpenDocument } from '../document/openDocument.ts'
import type { ConfirmedDocument } from '../document/confirmedDocument.ts'
import type { Peer, PresenceChanges, PresenceUpdate } from '../wire/generated.ts'
import type { Wire } from '../wire/socket.ts'
import { Debouncer } from './debouncer.ts'
import { setCarets } from './carets.ts'
import { looksOf } from './looks.ts'
import { PeerCarets, changed, withColors } from './peerCarets.ts'

const CARET_EVERY_MS = 60
const LATER_MS = 250

const coloured = (peers: readonly Peer[]): Peer[] =>
  withColors(peers, looksOf(peers.map(({ user, name }) => ({ id: user, name }))))

/** Follows the people in a document until it is closed. */
export function followPeers(document: OpenDocument, wire: Wire): void {
  const peers = new DocumentPeers(document, wire)
  const stops = [
    wire.on('presence:changes', (changes) => {
      if (changes.documentId === document.id) peers.change(changes, document.confirmed)
    }),
    wire.on('presence:update', (moved) => {
      if (moved.documentId === document.id) peers.move(moved, document.confirmed)
    }),
  ]
  const { events } = document
  events.on('opened', (opened) => peers.see(opened.peers, document.confirmed, opened.peerCount))
  events.on('updated', ({ selectionSet, docChanged, focusChanged }) => {
    if (selectionSet || docChanged || focusChanged) peers.want()
  })
  events.on('pushed', () => peers.want())
  events.on('disconnected', () => peers.leave(document.confirmed))
  events.on('closed', () => {
    peers.stop()
    stops.forEach((stop) => stop())
  })
}

class DocumentPeers {
  private readonly beat = new Debouncer(CARET_EVERY_MS, () => this.send())
  private readonly others = new PeerCarets()
  private readonly later = new Debouncer(LATER_MS, () => this.draw(this.host.inStep()))
  private all: readonly Peer[] = []

  constructor(
    private readonly host: OpenDocument,
    private readonly wire: Wire,
  ) {}

  /** Takes the list of people here. `count`: with those who are not listed. */
  see(all: readonly Peer[], confirmed: ConfirmedDocument | null, count = all.length): void {
    this.all = all
    const peers = coloured(all)
    useOpenDocument.setState({ peers, crowd: Math.max(0, count - all.length) })
    this.others.see(peers, all)
    this.draw(confirmed)
  }

  /** Takes people who came, changed and left. */
  change(
    { put, left, count, complete }: PresenceChanges,
    confirmed: ConfirmedDocument | null,
  ): void {
    this.all = changed(complete ? [] : this.all, put, left)
    const peers = coloured(this.all)
    useOpenDocument.setState({ peers, crowd: Math.max(0, count - peers.length) })
    this.others.see(peers, put)
    this.draw(confirmed)
  }

  move(moved: PresenceUpdate, confirmed: ConfirmedDocument | null): void {
    this.others.move(moved)
    this.draw(confirmed)
  }

  /** We are on our own. */
  leave(confirmed: ConfirmedDocument | null): void {
    this.others.leave()
    this.draw(confirmed)
  }

  /** Our caret may have moved. */
  want(): void {
    this.beat.want()
  }

  stop(): void {
    this.beat.stop()
    this.later.stop()
  }

  private draw(confirmed: ConfirmedDocument | null): void {
    if (confirmed === null) return
    const { view } = this.host
    // The carets that are there go along with the text; one more beside a half-composed word would
    // disturb it.
    if (view.compositionStarted) return this.later.want()
    const carets = this.others.carets(
      useOpenDocument.getState().member,
      confirmed,
      this.host.unconfirmed(),
      view.state.doc.length,
    )
    view.dispatch({ effects: setCarets.of(carets) })
  }

  /** Only when nothing is unacknowledged: until then our positions mean nothing to others. */
  private send(): void {
    const { id, view, settled } = this.host
    const confirmed = this.host.inStep()
    if (!confirmed || !settled || !view.hasFocus) return
    const { anchor, head } = view.state.selection.main
    this.wire.volatile('presence:update', {
      documentId: id,
      version: confirmed.version,
      anchor,
      head,
    })
  }
}
