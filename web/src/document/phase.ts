/**
 * Shows the phases of the open document on the page. Words that never arrived are kept and offered
 * back.
 */
import type { CallError } from '../wire/socket.ts'
import type { Role } from '../wire/generated.ts'
import type { Mode } from './modes.ts'
import { EMPTY, useOpenDocument } from './useOpenDocument.ts'
import type { UnsentEdit } from './unsent/unsentEdit.ts'

interface Opening {
  id: string
  title: string
  role: Role
  mode: Mode
}

/** Nothing of the document that was open before is shown with the next one. */
export function showOpening(id: string): void {
  useOpenDocument.setState({ ...EMPTY, id })
}

export function showClosed(): void {
  useOpenDocument.setState(({ recovered }) => ({ ...EMPTY, recovered }))
}

export function showOpen({ id, title, role, mode }: Opening, lost: readonly UnsentEdit[]): void {
  useOpenDocument.setState(({ recovered }) => ({
    id,
    title,
    role,
    mode,
    phase: 'open',
    failure: null,
    saved: 'saved',
    recovered: [...recovered, ...lost],
  }))
}

export function showSaved(isSettled: boolean, isConnected: boolean): void {
  useOpenDocument.setState({ saved: isSettled ? 'saved' : isConnected ? 'saving' : 'offline' })
}

/** The document is gone, or cannot be opened for this reason. */
export function showEnd(lost: readonly UnsentEdit[], failure: CallError | null = null): void {
  useOpenDocument.setState(({ recovered }) => ({
    phase: failure ? 'failed' : 'gone',
    failure,
    recovered: [...recovered, ...lost],
  }))
}
