/**
 * A bin page by page, whatever it is the bin of: which of it to show, and the way to what is older.
 */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { type ReactNode, useEffect } from 'react'
import { useSession } from '../../session/store.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { type BinPlace, loadBin, loadMore } from '../actions/bin.ts'
import type { Requests } from '../state/requests.ts'
import { type Filter, inBin } from '../state/refused.ts'
import './BinPages.css'

interface Props {
  bin: BinPlace
  /** The document, or the desk; `null`: there is none yet. */
  id: string | null
  filters: readonly (readonly [Filter, string])[]
  /** Requests as they are by now. */
  live: Requests['requests']
  list: (requests: readonly ToolApprovalRequest[]) => ReactNode
  empty: (filter: Filter) => ReactNode
}

export function BinPages({ bin, id, filters, live, list, empty }: Props) {
  const online = useSession((session) => session.link === 'online')
  const { filter, requests: read, more, state } = bin.use()
  useEffect(() => {
    if (id !== null && online) void loadBin(id, bin.use.getState().filter, bin)
  }, [bin, id, online])
  const requests = inBin(read, filter, live, bin.statuses)
  const choose = (wanted: Filter) => id !== null && void loadBin(id, wanted, bin)
  return (
    <>
      {(requests.length > 0 || filter !== 'all') && (
        <div className="chips bin-filter" role="group" aria-label="Show">
          {filters.map(([name, words]) => (
            <OnlineButton
              look="chip"
              key={name}
              aria-pressed={name === filter}
              onClick={() => choose(name)}
            >
              {words}
            </OnlineButton>
          ))}
        </div>
      )}
      {requests.length > 0 && list(requests)}
      {requests.length === 0 && state === 'ready' && empty(filter)}
      {state === 'loading' && (
        <p className="dots" role="status">
          Looking
        </p>
      )}
      {state === 'failed' && (
        <p className="warn-note" role="alert">
          The bin could not be read.{' '}
          <Button look="link" onClick={() => choose(filter)}>
            Try again
          </Button>
        </p>
      )}
      {more && state === 'ready' && (
        <OnlineButton className="bin-older" onClick={() => void loadMore(bin)}>
          Show older
        </OnlineButton>
      )}
    </>
  )
}
