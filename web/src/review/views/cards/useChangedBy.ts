/**
 * Asks for the people who changed the words that the AI wanted to change, after it had read them.
 */
import { useEffect, useState } from 'react'
import { openDocument } from '../../../document/openDocument.ts'
import { allSent } from '../../../document/allSent.ts'
import { useSession, wire } from '../../../session/store.ts'
import type { Hunk, ProvenanceSpan } from '../../../wire/generated.ts'
import { hunkFrom, hunkTo } from '../../state/hunk.ts'
import { asItIs } from '../../text/reviewField.ts'
import { changedByWords } from './changedBy.ts'
import { useRequests } from '../../stores/requests.ts'

/** Follows the words that stand there. */
export function useChangedBy(hunk: Hunk): string | null {
  const [words, setWords] = useState<string | null>(null)
  const since = useRequests((state) => state.requests[hunk.request_id]?.created_at)
  const me = useSession((session) => session.me?.user)
  const stands = hunk.parts.map(({ from, to }) => `${from} ${to}`).join()
  useEffect(() => {
    let gone = false
    void ask(hunk).then(
      (spans) => !gone && since && setWords(changedByWords(spans, since, me, Date.now())),
      // Without a connection it is not known.
      () => undefined,
    )
    return () => void (gone = true)
    // Moved words are unchanged.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [hunk.id, stands, since, me])
  return words
}

async function ask(shown: Hunk): Promise<readonly ProvenanceSpan[]> {
  if (!(await allSent())) return []
  const current = openDocument()
  if (!current) return []
  const hunk = asItIs(current.view.state, shown)
  const { spans } = await wire.call('document:provenance', {
    documentId: current.id,
    from: hunkFrom(hunk),
    to: hunkTo(hunk),
  })
  return spans
}
