/** A link that was just made: it is shown once. */
import { Button } from '../ui/Button.tsx'
import type { Made } from './MakeLink.tsx'
import { roleName, until, isLocal } from './share.ts'
import { copyText } from '../ui/clipboard.ts'
import './NewLink.css'

export function NewLink({ made, onAnother }: { made: Made; onAnother: () => void }) {
  const { name, role, link, expiresAt } = made
  return (
    <div className="new-link">
      <label htmlFor="share-link">
        Link for {name}: {roleName(role).toLowerCase()}, {until(expiresAt, Date.now())}
      </label>
      <div className="link-line">
        <input
          id="share-link"
          className="field"
          readOnly
          autoFocus
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button look="primary" onClick={() => void copyText(link)}>
          Copy
        </Button>
      </div>
      <p className="warn-note" role="status">
        Copy it now; you won’t see it again. Anyone who opens it acts as {name}.
      </p>
      {isLocal(window.location.hostname) && (
        <p className="quiet">
          It opens on this computer only: this page is reached at {window.location.host}.
        </p>
      )}
      <Button onClick={onAnother}>Create another link</Button>
    </div>
  )
}
