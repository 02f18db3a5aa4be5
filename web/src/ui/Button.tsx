/** Buttons: with words on them, or with an icon alone. */
import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icons.tsx'

export interface ButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'accept' | 'danger' | 'quiet' | 'icon' | 'link' | 'chip' | undefined
}

/** Looks with a class of their own. */
const CLASSES: Record<string, string> = { icon: 'icon-button', link: 'link', chip: 'chip' }

export function Button({ look, className, ...props }: ButtonProps) {
  const own = look ? (CLASSES[look] ?? `button is-${look}`) : 'button'
  return <button type="button" {...props} className={className ? `${own} ${className}` : own} />
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'name'> {
  /** Its name for screen readers; `title` is shown on hovering. */
  label: string
  name: IconName
  size?: number
}

export function IconButton({ label, name, size, ...props }: IconButtonProps) {
  return (
    <Button look="icon" aria-label={label} {...props}>
      <Icon name={name} size={size} />
    </Button>
  )
}
