/** The amber strip while the server cannot be reached. Typing stays on. */
import { useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { useSession } from '../session/store.ts'
import './ConnectionBar.css'

export function ConnectionBar() {
  const link = useSession((session) => session.link)
  const { phase, saved } = useOpenDocumentFields('phase', 'saved')
  if (link === 'online' || phase !== 'open') return null
  const [why, until] = navigator.onLine
    ? ['Copydesk isn’t answering.', 'when it answers again']
    : ['You are offline.', 'when you return']
  const kept = `words are kept on this device and go out ${until}.`
  const words = `${why} ${saved === 'offline' ? 'Your' : 'Keep writing: your'} ${kept}`
  return (
    <div className="netbar" role="status">
      {words}
    </div>
  )
}
