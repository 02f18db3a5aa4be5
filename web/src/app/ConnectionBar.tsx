/** The amber strip while the server cannot be reached. Typing stays on. */
import { useDocumentParts } from '../editor/store.ts'
import { useSession } from '../session/store.ts'

export function ConnectionBar() {
  const link = useSession((session) => session.link)
  const { phase, saved } = useDocumentParts('phase', 'saved')
  if (link === 'online' || phase !== 'open') return null
  const words =
    saved === 'offline'
      ? 'You are offline. Your words are kept on this device and go out when you return.'
      : 'You are offline. Keep writing: your words are kept on this device and go out when you return.'
  return (
    <div className="netbar" role="status">
      {words}
    </div>
  )
}
