/** The changes that a person has gone to. What they have not gone to is unread, in this browser. */
import type { Hunk } from '../../wire/generated.ts'
import { openDocument } from '../../document/openDocument.ts'
import { keep, readKept } from '../../session/browserStorage.ts'
import { useSession } from '../../session/store.ts'
import { usePanel } from './panel.ts'

const key = (): string =>
  `copydesk:read:${useSession.getState().me?.user.id ?? ''}:${openDocument()?.id ?? ''}`

/** Takes up what was read before. */
export function loadRead(): void {
  usePanel.setState({ read: new Set(readKept(key())?.split(' ')) })
}

/** Of changes that are gone nothing is kept. */
export function markRead(id: string, open: readonly Hunk[]): void {
  const before = usePanel.getState().read
  if (before.has(id)) return
  const read = new Set([...before, id].filter((known) => open.some((hunk) => hunk.id === known)))
  usePanel.setState({ read })
  keep(key(), [...read].join(' '))
}
