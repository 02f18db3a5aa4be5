/** A form that the page handles itself. */
import type { ComponentProps } from 'react'

interface Props extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit: () => void
}

export function Form({ onSubmit, ...props }: Props) {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    />
  )
}
