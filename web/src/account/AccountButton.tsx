/** The way to who we are here. */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'

export const AccountDialog = lazyPart(() =>
  import('./AccountDialog.tsx').then((all) => all.AccountDialog),
)

export function AccountButton() {
  const known = useSession(({ me }) => me !== null)
  const [open, setOpen] = useState(false)
  if (!known) return null
  return (
    <>
      <Button look="quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="person" size={15} /> You
      </Button>
      {open && <AccountDialog onClose={() => setOpen(false)} />}
    </>
  )
}
