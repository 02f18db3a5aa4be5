/** The one document that is open in this tab, for commands that act on it. */
import type { Extension } from '@codemirror/state'
import type { LiveDocument } from './liveDocument.ts'

let active: LiveDocument | null = null

export function setOpenDocument(document: LiveDocument | null): void {
  active = document
}

export function openDocument(): LiveDocument | null {
  return active
}

export interface EditorSetup {
  text: string
  version: number
  clientID: string
  writable: boolean
  title: string
  onUpdate: Extension
}
