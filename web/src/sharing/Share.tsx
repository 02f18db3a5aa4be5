/** Access of other people: for owners. */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { useCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'

const ShareDialog = lazyPart(() => import('./ShareDialog.tsx').then((all) => all.ShareDialog))

/** In a document its links open that document; in the list of documents they open the list. */
export function Share({ documentId }: { documentId: string | null }) {
  const able = useCapability('tokens')
  const owner = useSession((session) => session.me?.role === 'owner')
  const [open, setOpen] = useState(false)
  if (!able || !owner) return null
  return (
    <>
      <Button className="share-open" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="invite" /> <span>Share</span>
      </Button>
      {open && <ShareDialog documentId={documentId} onClose={() => setOpen(false)} />}
    </>
  )
}
