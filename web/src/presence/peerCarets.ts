/** Maps the carets of others into our copy of the text. Pure. */
import type { ChangeDesc } from '@codemirror/state'
import type { ConfirmedDocument } from '../document/confirmedDocument.ts'
import type { Peer, PeerCaret, PresenceUpdate } from '../wire/generated.ts'
import type { Caret } from './carets.ts'
import { colourOf, keyOfPerson } from './looks.ts'

/** With the colour that each person has everywhere; two names of one account are two people. */
export function withColors(peers: readonly Peer[], looks: ReadonlyMap<string, number>): Peer[] {
  return peers.map((peer) => ({
    ...peer,
    color: colourOf(looks.get(keyOfPerson({ id: peer.user, name: peer.name })) ?? peer.color),
  }))
}

/** The list after some came, changed or left: in the order in which they came. */
export function changed(
  peers: readonly Peer[],
  put: readonly Peer[],
  left: readonly string[],
): Peer[] {
  const fresh = new Map(put.map((peer) => [peer.id, peer]))
  const gone = new Set(left)
  const kept = peers.filter(({ id }) => !gone.has(id)).map((peer) => fresh.get(peer.id) ?? peer)
  const known = new Set(kept.map(({ id }) => id))
  return [...kept, ...put.filter(({ id }) => !known.has(id))]
}

export class PeerCarets {
  private peers: readonly Peer[] = []
  private places = new Map<string, PeerCaret>()

  /** `fresh`: those whose caret is known anew. */
  see(peers: readonly Peer[], fresh: readonly Peer[]): void {
    this.peers = peers
    const here = new Set(peers.map((peer) => peer.id))
    for (const id of this.places.keys()) if (!here.has(id)) this.places.delete(id)
    for (const { id, caret } of fresh) if (caret) this.places.set(id, caret)
  }

  move({ id, version, anchor, head }: PresenceUpdate): void {
    this.places.set(id, { version, anchor, head })
  }

  leave(): void {
    this.places.clear()
  }

  /** Returns all carets but our own, and those whose place cannot be worked out. */
  carets(
    ours: string,
    confirmed: ConfirmedDocument,
    unconfirmed: readonly ChangeDesc[],
    length: number,
  ): Caret[] {
    return this.peers.flatMap((peer): Caret[] => {
      const place = peer.id === ours ? undefined : this.places.get(peer.id)
      const at = place && placed(place, confirmed, unconfirmed, length)
      return at ? [{ id: peer.id, name: peer.name, color: peer.color, ...at }] : []
    })
  }
}

function placed(
  { version, anchor, head }: PeerCaret,
  confirmed: ConfirmedDocument,
  unconfirmed: readonly ChangeDesc[],
  length: number,
): { anchor: number; head: number } | undefined {
  const missed = confirmed.since(version)
  const valid = (at: number) => Number.isInteger(at) && at >= 0
  if (!missed || !valid(anchor) || !valid(head)) return undefined
  const path = [...missed, ...unconfirmed]
  const map = (at: number) =>
    Math.min(
      path.reduce((pos, changes) => changes.mapPos(Math.min(pos, changes.length), 1), at),
      length,
    )
  return { anchor: map(anchor), head: map(head) }
}
