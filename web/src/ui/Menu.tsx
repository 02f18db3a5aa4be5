/**
 * A button with a menu of actions: arrow keys move, Esc closes, and the focus comes back to the
 * button.
 */
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { Button } from './Button.tsx'
import { Icon, type IconName } from './icons.tsx'
import './Menu.css'

export interface MenuItem {
  label: string
  icon: IconName
  run: () => void
  /** For what can be on or off. */
  isOn?: boolean
}

interface Props {
  label: string
  items: readonly MenuItem[]
}

export function Menu({ label, items }: Props) {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  const button = () => box.current?.querySelector('button')
  // Before the next key comes: an arrow pressed at once moves in the menu.
  useLayoutEffect(() => {
    if (open) entries(box.current)[0]?.focus()
  }, [open])
  useEffect(() => {
    if (!open) return
    const leave = (event: Event) =>
      event.target instanceof Node && !box.current?.contains(event.target) && setOpen(false)
    const listening = new AbortController()
    document.addEventListener('pointerdown', leave, { signal: listening.signal })
    document.addEventListener('focusin', leave, { signal: listening.signal })
    return () => listening.abort()
  }, [open])
  const close = () => {
    setOpen(false)
    button()?.focus()
  }
  const press = (event: KeyboardEvent) => {
    const wanted = next(event.key, entries(box.current), document.activeElement)
    if (wanted) wanted.focus()
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="menu" ref={box}>
      <Button
        look="quiet"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" /> <span>{label}</span>
      </Button>
      {open && (
        <div className="menu-items" role="menu" id={id} aria-label={label} onKeyDown={press}>
          {items.map(({ label: name, icon, run, isOn }) => (
            <button
              type="button"
              key={name}
              role={isOn === undefined ? 'menuitem' : 'menuitemcheckbox'}
              aria-checked={isOn}
              tabIndex={-1}
              onClick={() => {
                // What opens now gives the focus back to where it was.
                close()
                run()
              }}
            >
              <Icon name={icon} /> <span>{name}</span>
              {isOn && <Icon name="check" size={14} />}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const entries = (box: HTMLElement | null): HTMLElement[] => [
  ...(box?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []),
]

function next(
  key: string,
  all: readonly HTMLElement[],
  now: Element | null,
): HTMLElement | undefined {
  const at = all.findIndex((entry) => entry === now)
  switch (key) {
    case 'ArrowDown':
      return all[(at + 1) % all.length]
    case 'ArrowUp':
      return all.at(at <= 0 ? -1 : at - 1)
    case 'Home':
      return all[0]
    case 'End':
      return all.at(-1)
  }
  return undefined
}
