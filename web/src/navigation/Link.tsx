/** A link to a place of this page, which is not loaded anew for it. */
import type { ComponentProps } from 'react'
import { follow } from './routes.ts'

export function Link({ to, onClick, ...props }: ComponentProps<'a'> & { to: string }) {
  return (
    <a
      {...props}
      href={to}
      onClick={(event) => {
        onClick?.(event)
        follow(event, to)
      }}
    />
  )
}
