/** What came of a request, in the words the AI was told; what was done about it since, and what can be done now. */
import { documentPath, follow } from '../app/routes.ts'
import { useBusy } from '../review/decide.ts'
import { mayAskAgain, mayDecide, useDeskReviewer } from '../review/who.ts'
import { WaysBack } from '../review/WaysBack.tsx'
import type { ApprovalRequest } from '../wire/types.ts'
import { proposeAgain, takeBack } from './back.ts'
import { goTo } from './bin.ts'
import { Diff, Preview } from './Preview.tsx'
import { SecondStep } from './SecondStep.tsx'
import { visible } from './shown.ts'
import { changedAt, type FileNow, useDesk } from './store.ts'
import { againWords, undoAnyway, undoneWords } from './words.ts'

interface Props { request: ApprovalRequest; /** What tells the card from the others. */ scope: string }

export function Over({ request, scope }: Props) {
  return (
    <>
      {request.report && <p className="desk-report">{visible(request.report)}</p>}
      <Back request={request} scope={scope} />
      <details className="desk-steps">
        <summary>What it was about</summary>
        <Preview request={request} />
      </details>
    </>
  )
}

/** What it has to do with other requests, and who took back what it did. */
export function Since({ request, scope }: Props) {
  const { again_of, again_as } = request.aftermath ?? {}
  const earlier = useDesk(({ requests }) => (again_of === undefined ? undefined : requests[again_of]))
  const later = useDesk(({ requests }) => (again_as === undefined ? undefined : requests[again_as]))
  const undone = undoneWords(request, Date.now())
  if (undone === null && again_of === undefined && again_as === undefined) return null
  return (
    <p className="fate desk-since">
      {again_of !== undefined && <span>{againWords(earlier)}{earlier && <> <Show id={again_of} name={`Show what ${scope} was before`} /></>}</span>}
      {undone !== null && <span className="badge is-plain">{undone}</span>}
      {again_as !== undefined && <span>Proposed again{later && <> <Show id={again_as} name={`Show ${scope}, proposed again`} /></>}</span>}
    </p>
  )
}

function Show({ id, name }: { id: string; name: string }) {
  return <button type="button" className="link" aria-label={name} onClick={() => goTo(id)}>Show</button>
}

function Back({ request, scope }: Props) {
  const id = request.request_id
  const reviewer = useDeskReviewer()
  const busy = useBusy(({ ids }) => ids.has(id))
  const now = useDesk(({ changed }) => changed[id])
  const { can_undo = false, can_reopen = false } = request.aftermath ?? {}
  const undoes = can_undo && mayDecide(request, reviewer)
  if (undoes && now) return <Changed request={request} scope={scope} now={now} />
  return (
    <WaysBack
      busy={busy}
      again={can_reopen && mayAskAgain(request, reviewer) ? { label: 'Propose again', name: `Propose again: ${scope}`, act: () => void proposeAgain(request) } : null}
      undo={undoes ? { label: 'Undo', name: `Undo ${scope}`, title: 'Undo (U)', act: () => void takeBack(request) } : null}
    />
  )
}

/** Nobody's work is overwritten unseen. */
function Changed({ request, scope, now }: Props & { now: FileNow }) {
  const id = request.request_id
  const close = () => {
    changedAt(id, null)
    goTo(id)
  }
  const leave = (event: Parameters<typeof follow>[0], path: string) => {
    follow(event, path)
    useDesk.setState({ open: false })
  }
  return (
    <SecondStep id={id} yes="Undo anyway" name={`Undo anyway: ${scope}`} onYes={() => void takeBack(request, true)} onClose={close}>
      <p className="warn-note" role="alert">{undoAnyway(request, now)}</p>
      {now.diff_lines.length > 0 && <Diff lines={now.diff_lines} name="What was changed since" />}
      {now.document_id !== null && <p><a href={documentPath(now.document_id)} onClick={(event) => leave(event, documentPath(now.document_id!))}>Open {visible(now.file_path)}</a></p>}
    </SecondStep>
  )
}
