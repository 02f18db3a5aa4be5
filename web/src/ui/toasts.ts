/** Short words at the bottom of the screen. */
import { create } from 'zustand'

export interface Toast {
  id: number
  text: string
  action?: { label: string; run: () => void }
  /** A newer toast about the same thing takes the older one's place. */
  about?: string
}

interface ToastState {
  toasts: readonly Toast[]
  /** True if something on the page shows them in a place of its own. */
  docked: boolean
}

export const useToasts = create<ToastState>()(() => ({ toasts: [], docked: false }))

let last = 0

/** Shows a toast; with an action it stays longer, so that there is time to reach it. */
export function toast(text: string, { action, about }: Pick<Toast, 'action' | 'about'> = {}): void {
  const shown: Toast = { id: ++last, text, ...(action && { action }), ...(about && { about }) }
  useToasts.setState(({ toasts }) => ({
    toasts: [
      ...toasts.filter((old) => about === undefined || old.about !== about).slice(-2),
      shown,
    ],
  }))
  setTimeout(() => dismiss(shown.id), action ? 8_000 : 5_000)
}

export function dismiss(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }))
}

/** Takes away what is said about something that is no longer so. */
export function dismissAbout(about: string): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.about !== about) }))
}

/** About why a press decided nothing: none is ignored without a sign. */
export const PRESS_TOAST = 'press'
