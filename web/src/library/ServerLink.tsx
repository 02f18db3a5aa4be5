/** For owners: the link to the page of the server. */
import { useCapability, useSession } from '../session/store.ts'
import { SERVER_PATH, follow } from '../navigation/routes.ts'
import { Icon } from '../ui/icons.tsx'

/** For owners: the page of the server. */
export function ServerLink() {
  const isAble = useCapability('administration')
  const isOwner = useSession((session) => session.me?.role === 'owner')
  if (!isAble || !isOwner) return null
  return (
    <a
      className="button is-quiet"
      href={SERVER_PATH}
      onClick={(event) => follow(event, SERVER_PATH)}
    >
      <Icon name="server" size={15} /> Server
    </a>
  )
}
