/** For owners: the link to the page of the server. */
import { useCapability, useSession } from '../session/store.ts'
import { Link } from '../navigation/Link.tsx'
import { SERVER_PATH } from '../navigation/routes.ts'
import { Icon } from '../ui/icons.tsx'

export function ServerLink() {
  const isAble = useCapability('administration')
  const isOwner = useSession((session) => session.me?.role === 'owner')
  if (!isAble || !isOwner) return null
  return (
    <Link className="button is-quiet" to={SERVER_PATH}>
      <Icon name="server" size={15} /> Server
    </Link>
  )
}
