/** The amber strip while the server cannot be reached. Typing stays on. */
import { useDocumentParts } from '../editor/store.ts'
import { useSession } from '../session/store.ts'

export function ConnectionBar() {
  const link = useSession((session) => session.link)
  const { phase, saved } = useDocumentParts('phase', 'saved')
  if (link === 'online' || phase !== 'open') return null
  const where = navigator.onLine ? 'Copydesk isn’t answering.' : 'You are offline.'
  const then = navigator.onLine ? 'when it answers again' : 'when you return'
  const kept = `our words are kept on this device and go out ${then}.`
  const words = saved === 'offline' ? `${where} Y${kept}` : `${where} Keep writing: y${kept}`
  return (
    <div className="netbar" role="status">
      {words}
    </div>
  )
}
