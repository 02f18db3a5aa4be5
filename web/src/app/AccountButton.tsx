/** Who we are here, and the way out. */
import { useState } from 'react'
import { signOut, stay, useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { MAY } from './share/share.ts'

export function AccountButton({ wide = false }: { wide?: boolean }) {
  const { me, guest } = useSession()
  const able = useCapability('tokens')
  const [open, setOpen] = useState(false)
  // Where everybody is the owner, there is nothing to sign out of.
  if (me === null || !able) return null
  const foot = (
    <>
      {guest && (
        <button type="button" className="button is-primary" onClick={stay}>
          Stay {me.user.name} in this browser
        </button>
      )}
      <button type="button" className="button" onClick={signOut}>
        Sign out
      </button>
    </>
  )
  return (
    <>
      <button
        type="button"
        className={`icon-button ${wide ? 'wide' : ''}`}
        aria-label="You"
        title="You"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Icon name="person" size={18} />
      </button>
      {open && (
        <Dialog title={`You are ${me.user.name}`} onClose={() => setOpen(false)} foot={foot}>
          <p>Your link {MAY[me.role]}.</p>
          <p className="quiet">
            {guest
              ? 'That is so in this tab only: new tabs open as who this browser was before.'
              : 'This browser remembers it for new tabs. On a computer that is not yours, sign out when you go.'}
          </p>
        </Dialog>
      )}
    </>
  )
}
