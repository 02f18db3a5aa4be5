/** The people in the document, one circle for each. */
import { useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { useSession } from '../session/store.ts'
import type { Peer } from '../wire/generated.ts'
import './People.css'

/** Connections of one person under one name are one circle; we come first. */
export function peopleOf(peers: readonly Peer[], member: string): Peer[] {
  const mine = (peer: Peer) => peer.id === member
  const sorted = peers.toSorted((a, b) => Number(mine(b)) - Number(mine(a)))
  return sorted.filter(
    (peer, index) =>
      sorted.findIndex((other) => other.user === peer.user && other.name === peer.name) === index,
  )
}

export function People() {
  const { peers, crowd, member } = useOpenDocumentFields('peers', 'crowd', 'member')
  const link = useSession((session) => session.link)
  const people = peopleOf(peers, member)
  const more = Math.max(0, people.length - 5) + crowd
  if (link !== 'online' || people.length === 0) return null
  return (
    <ul className="people" aria-label="People here">
      {people.slice(0, 5).map((peer) => (
        <li key={peer.id} className={`person peer-${peer.color}`} title={peer.name}>
          <span aria-hidden="true">{[...peer.name][0]?.toUpperCase() ?? '?'}</span>
          <span className="hidden-label">
            {peer.id === member ? `${peer.name} (you)` : peer.name}
          </span>
        </li>
      ))}
      {more > 0 && <li className="word-count">+{more}</li>}
    </ul>
  )
}
