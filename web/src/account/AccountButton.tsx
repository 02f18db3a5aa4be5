/** The way to who we are here. */
import { Suspense, useState } from 'react'
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
      <button
        type="button"
        className="button is-quiet"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Icon name="person" size={15} /> You
      </button>
      <Suspense fallback={null}>
        {open && <AccountDialog onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  )
}
