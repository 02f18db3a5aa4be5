/** The person's own account, and the way out. */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { isNotifying, setNotifying } from './notifications.ts'
import { signOut, stay, useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Setting } from '../ui/Setting.tsx'
import { NameForm } from '../session/NameForm.tsx'
import { YOU_CAN } from '../sharing/share.ts'
import './AccountDialog.css'

export function AccountDialog({ onClose }: { onClose: () => void }) {
  const { me, guest } = useSession()
  // Where everybody is the owner, there is nothing to sign out of.
  const able = useCapability('tokens')
  if (me === null) return null
  const foot = able && (
    <>
      {guest && (
        <Button look="primary" onClick={stay}>
          Stay signed in as {me.user.name}
        </Button>
      )}
      <Button onClick={signOut}>Sign out</Button>
    </>
  )
  return (
    <Dialog
      title={`You are ${me.user.name}`}
      className="account-dialog"
      onClose={onClose}
      foot={foot}
    >
      {able && me.role === 'owner' && <NameForm key={me.user.name} initial={me.user.name} />}
      <p>{able ? YOU_CAN[me.role] : 'Everybody who reaches this server has full access.'}</p>
      {able && (
        <p className="quiet">
          {guest
            ? 'In this tab only: new tabs open as the person this browser knew before.'
            : 'This browser stays signed in. On a computer that is not yours, sign out when you leave.'}
        </p>
      )}
      <Notifying />
    </Dialog>
  )
}

/** Off until a person wants it: the browser asks, too. */
function Notifying() {
  const [on, setOn] = useState(isNotifying)
  const [refused, setRefused] = useState(false)
  if (!('Notification' in window)) return null
  const change = async (wanted: boolean) => {
    const now = await setNotifying(wanted)
    setOn(now)
    setRefused(wanted && !now)
  }
  return (
    <Setting
      name="Notify me when changes wait"
      what={
        refused
          ? 'Your browser does not allow notifications from this page.'
          : 'Works while a Copydesk tab is open in the background.'
      }
      checked={on}
      onChange={(wanted) => void change(wanted)}
    />
  )
}
