/** Maps the carets of others into our copy of the text. Pure. */
import type { ChangeDesc } from '@codemirror/state'
import type { ConfirmedDocument } from '../document/confirmedDocument.ts'
import type { Peer, PeerCaret } from '../wire/generated.ts'
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

/** Returns a caret in our text; `undefined`: its place cannot be worked out. */
export function placed(
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
