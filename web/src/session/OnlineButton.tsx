/** A button for what only the server can do: it is off without a connection. */
import { Button, type ButtonProps } from '../ui/Button.tsx'
import { useSession } from './store.ts'

export function OnlineButton({ disabled, ...props }: ButtonProps) {
  const offline = useSession(({ link }) => link !== 'online')
  return <Button {...props} disabled={disabled || offline} />
}
