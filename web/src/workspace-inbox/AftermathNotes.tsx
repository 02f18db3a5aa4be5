/** Notes on the effects of a decided request. */
import type { CardProps } from './cardProps.ts'
import { useInbox } from './state/store.ts'
import { undoneWords, againWords } from './state/wording.ts'
import { goTo } from './state/bin.ts'
import './AftermathNotes.css'

/** Its relation to other requests, and the person who took back its effects. */
export function AftermathNotes({ request, scope }: CardProps) {
  const { again_of, again_as } = request.aftermath ?? {}
  const earlier = useInbox(({ requests }) =>
    again_of === undefined ? undefined : requests[again_of],
  )
  const later = useInbox(({ requests }) =>
    again_as === undefined ? undefined : requests[again_as],
  )
  const undone = undoneWords(request, Date.now())
  if (undone === null && again_of === undefined && again_as === undefined) return null
  return (
    <p className="card-note inbox-since">
      {again_of !== undefined && (
        <span>
          {againWords(earlier)}
          {earlier && (
            <>
              {' '}
              <Show id={again_of} name={`Show what ${scope} was before`} />
            </>
          )}
        </span>
      )}
      {undone !== null && <span className="badge is-plain">{undone}</span>}
      {again_as !== undefined && (
        <span>
          Proposed again
          {later && (
            <>
              {' '}
              <Show id={again_as} name={`Show ${scope}, proposed again`} />
            </>
          )}
        </span>
      )}
    </p>
  )
}

function Show({ id, name }: { id: string; name: string }) {
  return (
    <button type="button" className="link" aria-label={name} onClick={() => goTo(id)}>
      Show
    </button>
  )
}
