/** Typed changes that the server has not got: sent one push at a time, or kept. */
import { getSyncedVersion, sendableUpdates } from '@codemirror/collab'
import type { EditorState, Text } from '@codemirror/state'
import { CallError } from '../wire/socket.ts'
import type { LiveDocument } from './liveDocument.ts'
import { suggestedIn } from './suggesting/field.ts'
import { type UnsentEdit, unsentEdit } from './unsent/unsentEdit.ts'

/** A long time offline is sent in pieces that stay well below the server's message limit. */
const MAX_UPDATES_PER_PUSH = 200
const RETRY_MS = 1_000

/** Answers to a push that do not get better by waiting. */
const REFUSED = new Set(['resync', 'invalid_payload', 'not_allowed', 'not_found'])

export class Sender {
  private pushing = false

  constructor(private readonly document: LiveDocument) {}

  async push(): Promise<void> {
    if (this.document.suggester) return this.document.suggester.push()
    const { id, wire, view, confirmed, hears, events } = this.document
    if (this.pushing || !hears || confirmed === null) return
    const version = getSyncedVersion(view.state)
    const updates = sendable(view.state).slice(0, MAX_UPDATES_PER_PUSH)
    if (updates.length === 0) return
    this.pushing = true
    try {
      await wire.call('document:push', { documentId: id, version, updates })
      events.emit('pushed', undefined)
      if (this.document.confirmed?.version === version && this.document.hears)
        throw new CallError({ code: 'timeout', message: 'Sent, but not heard back.' })
    } catch (error) {
      await this.failed(error)
    } finally {
      this.pushing = false
    }
    void this.push()
  }

  /** Sends everything at once: the document is being closed. */
  sendLast(): Promise<unknown> {
    const { id, wire, view, suggester } = this.document
    const suggested = suggestedIn(view.state)
    if (suggester && suggested) return suggester.call(suggested)
    return wire.call('document:push', {
      documentId: id,
      version: getSyncedVersion(view.state),
      updates: sendable(view.state),
    })
  }

  private async failed(error: unknown): Promise<void> {
    const code = error instanceof CallError ? error.code : 'unknown'
    if (code === 'offline') return
    // The server will never take these words as they are: load its text and give the words back to
    // the writer.
    if (REFUSED.has(code)) return this.document.reload()
    await new Promise((resume) => setTimeout(resume, RETRY_MS))
    if (code === 'timeout' && this.document.wire.connected) await this.document.join()
  }
}

/** As it is pushed. */
function sendable(state: EditorState): { clientID: string; changes: unknown }[] {
  return sendableUpdates(state).map(({ clientID, changes }) => ({
    clientID,
    changes: changes.toJSON() as unknown,
  }))
}

/** Words of a suggestion have no place in the history of the text. */
export function unsentOf(
  state: EditorState,
  confirmed: { doc: Text; version: number },
  id: string,
): UnsentEdit | null {
  const suggested = suggestedIn(state)
  if (!suggested) return unsentEdit(confirmed, sendableUpdates(state), id)
  const doc = suggested.own.apply(suggested.doc)
  const typed = suggested.typed.map((changes) => ({ changes, clientID: '' }))
  const edit = unsentEdit({ doc, version: confirmed.version }, typed, id)
  return edit && { ...edit, base: null, suggested: true }
}
