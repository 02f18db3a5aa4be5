/** The platform's own dialog: it traps focus, closes on Esc and makes the rest inert. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from './Button.tsx'
import { topDialog } from './dialogStack.ts'
import './Dialog.css'

interface Props {
  title: string
  onClose: () => void
  children: ReactNode
  foot?: ReactNode
  className?: string
}

export function Dialog({ title, onClose, children, foot, className }: Props) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  // It is closed while it still stands in the page: only then the browser puts the focus back to
  // where it was.
  useLayoutEffect(() => {
    const shown = box.current
    if (!shown) return
    shown.showModal()
    const leave = topDialog(shown)
    return () => {
      leave()
      shown.close()
    }
  }, [])
  // Not where it was opened from: that may be hidden while the dialog is open, as the panel is once
  // the window gets small.
  return createPortal(
    <dialog
      ref={box}
      className={className}
      aria-labelledby={id}
      onCancel={onClose}
      onClick={(event) => event.target === box.current && onClose()}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton label="Close" name="cross" onClick={onClose} />
      </div>
      {children}
      {foot && <div className="dialog-foot">{foot}</div>}
    </dialog>,
    document.body,
  )
}
