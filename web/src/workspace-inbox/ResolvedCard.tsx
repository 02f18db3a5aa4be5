/**
 * The outcome of a request, in the words for the AI; later events, and the actions that are
 * possible now.
 */
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import { useBusy } from '../review/stores/busy.ts'
import { mayAskAgain, mayDecide } from '../review/state/permissions.ts'
import { UndoReopenButtons } from '../review/views/cards/UndoReopenButtons.tsx'
import type { CardProps } from './cardProps.ts'
import { proposeAgain, undoFileAction } from './state/undo.ts'
import { goTo } from './state/bin.ts'
import { Diff, CallPreview } from './CallPreview.tsx'
import { ConfirmStep } from './ConfirmStep.tsx'
import { showInvisible } from '../ui/visibleText.ts'
import { changedAt, type FileNow, useInbox } from './state/store.ts'
import { overwriteQuestion } from './state/wording.ts'
import { useInboxReviewer } from '../review/stores/reviewer.ts'

export function ResolvedCard({ request, scope }: CardProps) {
  return (
    <>
      {request.report && <p className="inbox-report">{showInvisible(request.report)}</p>}
      <Back request={request} scope={scope} />
      <details className="inbox-steps">
        <summary>Show the changes</summary>
        <CallPreview request={request} />
      </details>
    </>
  )
}

function Back({ request, scope }: CardProps) {
  const id = request.request_id
  const reviewer = useInboxReviewer()
  const busy = useBusy(({ ids }) => ids.has(id))
  const now = useInbox(({ changed }) => changed[id])
  const { can_undo = false, can_reopen = false } = request.aftermath ?? {}
  const undoes = can_undo && mayDecide(request, reviewer)
  if (undoes && now) return <Changed request={request} scope={scope} now={now} />
  return (
    <UndoReopenButtons
      busy={busy}
      ways={[
        can_reopen &&
          mayAskAgain(request, reviewer) && {
            label: 'Bring back',
            name: `Bring back: ${scope}`,
            act: () => void proposeAgain(request),
          },
        undoes && {
          label: 'Undo',
          name: `Undo ${scope}`,
          title: 'Undo (U)',
          act: () => void undoFileAction(request),
        },
      ]}
    />
  )
}

/** Work of others is not overwritten unseen. */
function Changed({ request, scope, now }: CardProps & { now: FileNow }) {
  const id = request.request_id
  const close = () => {
    changedAt(id, null)
    goTo(id)
  }
  return (
    <ConfirmStep
      id={id}
      yes="Undo anyway"
      name={`Undo anyway: ${scope}`}
      onYes={() => void undoFileAction(request, true)}
      onClose={close}
    >
      <p className="warn-note" role="alert">
        {overwriteQuestion(request, now)}
      </p>
      {now.diff_lines.length > 0 && <Diff lines={now.diff_lines} name="What was changed since" />}
      {now.document_id !== null && (
        <p>
          <Link
            to={documentPath(now.document_id)}
            onClick={() => useInbox.setState({ open: false })}
          >
            Open {showInvisible(now.file_path)}
          </Link>
        </p>
      )}
    </ConfirmStep>
  )
}
