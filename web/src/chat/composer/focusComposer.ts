/** The way to the question, at once: the next key is meant for it already. */
import { flushSync } from 'react-dom'
import { usePanel } from '../../review/stores/panel.ts'

/** `reveal` shows the panel where something hides it. */
export function focusComposer(reveal?: () => void): void {
  flushSync(() => {
    reveal?.()
    usePanel.setState({ open: true, view: 'suggestions' })
  })
  document.querySelector<HTMLElement>('#composer')?.focus()
}
