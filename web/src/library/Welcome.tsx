/** The list without documents, and the way to a new one. */
import { Button } from '../ui/Button.tsx'
import { oneAtATime } from '../ui/oneAtATime.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { focusWhenOpen } from './library.ts'
import { navigate, documentPath } from '../navigation/routes.ts'
import { Icon } from '../ui/icons.tsx'

export const create = oneAtATime(async () => {
  const made = await attempt(wire.call('document:create', {}))
  if (!made) return
  focusWhenOpen(made.document.id)
  navigate(documentPath(made.document.id))
})

export function Welcome({ mayWrite }: { mayWrite: boolean }) {
  return (
    <div className="welcome">
      <h2>{mayWrite ? 'Begin with a blank page' : 'Nothing is shared with you yet'}</h2>
      <p>
        Ask the AI for an edit whenever you like. Nothing changes your words until somebody accepts
        it.
      </p>
      {mayWrite && (
        <Button look="primary" onClick={() => void create()}>
          <Icon name="plus" size={14} /> New document
        </Button>
      )}
    </div>
  )
}
