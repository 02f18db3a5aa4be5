/** Selects the people who can be mentioned, and the AI for those who may ask it. */
import { useMemo } from 'react'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import type { Person } from '../../wire/generated.ts'
import { canWrite } from '../../session/roles.ts'
import { AI, knownPeople } from '../state/mentions.ts'
import { useComments } from '../stores/threads.ts'

export function usePeople(): readonly Person[] {
  const peers = useOpenDocument((state) => state.peers)
  const threads = useComments((state) => state.threads)
  const others = useComments((state) => state.others)
  const me = useSession((session) => session.me?.user.id)
  const asks = useOpenDocument(({ role }) => canWrite(role))
  return useMemo(() => {
    const people = knownPeople(peers, threads, others ?? [], me)
    return asks ? [AI, ...people] : people
  }, [peers, threads, others, me, asks])
}
