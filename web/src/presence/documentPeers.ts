/** The people in an open document: their carets in our copy, and ours sent to them. */
import { Debouncer } from '../document/debouncer.ts'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import type { LiveDocument } from '../document/liveDocument.ts'
import type { Opened, Peer, PeerCaret, PresenceChanges, PresenceUpdate } from '../wire/generated.ts'
import type { Wire } from '../wire/socket.ts'
import { type Caret, setCarets } from './carets.ts'
import { looksOf } from './looks.ts'
import { changed, placed, withColors } from './peerCarets.ts'

const CARET_EVERY_MS = 60
const LATER_MS = 250

const coloured = (peers: readonly Peer[]): Peer[] =>
  withColors(peers, looksOf(peers.map(({ user, name }) => ({ id: user, name }))))

/** Follows the people in a document until it is closed. */
export function followPeers(document: LiveDocument, wire: Wire): void {
  const peers = new DocumentPeers(document, wire)
  const { events } = document
  events.on('opened', (opened) => peers.see(opened))
  events.on('peersChanged', (changes) => peers.change(changes))
  events.on('peerMoved', (moved) => peers.move(moved))
  events.on('updated', ({ selectionSet, docChanged, focusChanged }) => {
    if (selectionSet || docChanged || focusChanged) peers.want()
  })
  events.on('pushed', () => peers.want())
  events.on('disconnected', () => peers.leave())
  events.on('closed', () => peers.stop())
}

class DocumentPeers {
  private readonly beat = new Debouncer(CARET_EVERY_MS, () => this.send())
  private readonly later = new Debouncer(LATER_MS, () => this.draw(this.host.inStep()))
  private all: readonly Peer[] = []
  /** Carets by the identifier of their page, each of its version of the text. */
  private readonly places = new Map<string, PeerCaret>()

  constructor(
    private readonly host: LiveDocument,
    private readonly wire: Wire,
  ) {}

  see({ peers, peerCount }: Opened): void {
    this.take(peers, peers, peerCount ?? peers.length)
  }

  /** Takes people who came, changed and left. */
  change({ put, left, count, complete }: PresenceChanges): void {
    this.take(changed(complete ? [] : this.all, put, left), put, count)
  }

  /** `fresh`: those whose caret is known anew; `count`: with those who are not listed. */
  private take(all: readonly Peer[], fresh: readonly Peer[], count: number): void {
    this.all = all
    useOpenDocument.setState({ peers: coloured(all), crowd: Math.max(0, count - all.length) })
    const here = new Set(all.map((peer) => peer.id))
    for (const id of this.places.keys()) if (!here.has(id)) this.places.delete(id)
    for (const { id, caret } of fresh) if (caret) this.places.set(id, caret)
    this.draw()
  }

  move({ id, version, anchor, head }: PresenceUpdate): void {
    this.places.set(id, { version, anchor, head })
    this.draw()
  }

  /** We are on our own. */
  leave(): void {
    this.places.clear()
    this.draw()
  }

  /** Our caret may have moved. */
  want(): void {
    this.beat.want()
  }

  stop(): void {
    this.beat.stop()
    this.later.stop()
  }

  private draw(confirmed = this.host.confirmed): void {
    if (confirmed === null) return
    const { view } = this.host
    const { peers, member } = useOpenDocument.getState()
    // The carets that are there go along with the text; one more beside a half-composed word would
    // disturb it.
    if (view.compositionStarted) return this.later.want()
    const carets = peers.flatMap(({ id, name, color }): Caret[] => {
      const place = id === member ? undefined : this.places.get(id)
      const { length } = view.state.doc
      const at = place && placed(place, confirmed, this.host.unconfirmed(), length)
      return at ? [{ id, name, color, ...at }] : []
    })
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
      anchor: this.host.inServerText(anchor),
      head: this.host.inServerText(head),
    })
  }
}
