/** Reading a document's history, page by page. */
import { useCallback, useEffect, useState } from 'react'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import type { HistoryLine } from '../wire/generated.ts'
import { BEGINNING, type Step, stepsOf } from './steps.ts'

/** Updates that are asked for at a time: some hours of writing. */
const PAGE = 500

interface Read {
  steps: readonly Step[]
  isMore: boolean
  problem: string | null
  readMore: () => void
}

export function useHistory(documentId: string): Read {
  const [lines, setLines] = useState<readonly HistoryLine[]>([])
  const [isMore, setMore] = useState(false)
  const [hasBeginning, setBeginning] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const read = useCallback(
    async (before?: number) => {
      const { versions } = await wire.call('document:history', {
        documentId,
        limit: PAGE,
        ...(before !== undefined && { before }),
      })
      setLines((known) => [...(before === undefined ? [] : known), ...versions])
      setMore(versions.length === PAGE)
      if (versions.length === PAGE) return
      // A text that was imported, or came with the server, can be gone back to as well.
      const { text } = await wire.call('document:at', { documentId, version: 0 })
      setBeginning(text !== '')
    },
    [documentId],
  )
  useEffect(() => void attempt(read(), ({ message }) => setProblem(message)), [read])
  return {
    steps: [...stepsOf(lines), ...(hasBeginning && lines.length > 0 ? [BEGINNING] : [])],
    isMore,
    problem,
    readMore: () => void attempt(read(lines.at(-1)?.version), ({ message }) => setProblem(message)),
  }
}
