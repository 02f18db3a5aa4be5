/** The list without documents, and the way to a new one. */
import { createDocument, focusWhenOpen } from './library.ts'
import { navigate, documentPath } from '../navigation/routes.ts'
import { Icon } from '../ui/icons.tsx'

export const create = async () => {
  const id = await createDocument()
  if (!id) return
  focusWhenOpen(id)
  navigate(documentPath(id))
}

export function Welcome({ mayWrite }: { mayWrite: boolean }) {
  return (
    <div className="welcome">
      <h2>{mayWrite ? 'Begin with a blank page' : 'Nothing is shared with you yet'}</h2>
      <p>
        Ask the AI for an edit whenever you like. Nothing changes your words until somebody accepts
        it.
      </p>
      {mayWrite && (
        <button type="button" className="button is-primary" onClick={() => void create()}>
          <Icon name="plus" size={14} /> New document
        </button>
      )}
    </div>
  )
}
