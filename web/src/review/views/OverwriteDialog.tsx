/**
 * Words that were changed after they were accepted: the text now, and the text that an undo would
 * put in its place.
 */
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { undoAnyway, useOverwrite } from '../actions/undo.ts'

export function OverwriteDialog() {
  const asked = useOverwrite((overwrite) => overwrite.asked)
  if (!asked) return null
  const close = () => useOverwrite.setState({ asked: null })
  const foot = (
    <>
      <Button look="danger" onClick={() => void undoAnyway(asked)}>
        Undo anyway
      </Button>
      <Button onClick={close}>Keep what is there</Button>
    </>
  )
  return (
    <Dialog title="These words were changed since" onClose={close} foot={foot}>
      <p className="warn-note">Undoing would overwrite what stands there now.</p>
      {asked.touched.map(({ id, stands, restores }) => (
        <dl key={id} className="sides">
          <div>
            <dt>There now</dt>
            <dd dir="auto">{stands || 'Deleted'}</dd>
          </div>
          <div>
            <dt>After the undo</dt>
            <dd dir="auto">{restores || 'Deleted'}</dd>
          </div>
        </dl>
      ))}
    </Dialog>
  )
}
