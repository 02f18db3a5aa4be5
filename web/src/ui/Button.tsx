/** Buttons: with words on them, or with an icon alone. */
import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icons.tsx'

interface ButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'accept' | 'danger' | 'quiet'
}

export function Button({ look, className, ...props }: ButtonProps) {
  const classes = ['button', look && `is-${look}`, className].filter(Boolean).join(' ')
  return <button type="button" {...props} className={classes} />
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'name'> {
  /** Its name for screen readers; `title` is shown on hovering. */
  label: string
  name: IconName
  size?: number
}

export function IconButton({ label, name, size, ...props }: IconButtonProps) {
  return (
    <button type="button" className="icon-button" aria-label={label} {...props}>
      <Icon name={name} size={size} />
    </button>
  )
}
