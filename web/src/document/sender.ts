/** Sends what is typed, one push at a time. */
import { getSyncedVersion } from '@codemirror/collab'
import type { EditorView } from '@codemirror/view'
import { CallError, type Wire } from '../wire/socket.ts'
import type { ConfirmedDocument } from './confirmedDocument.ts'
import type { DocumentEvents, Emitter } from './events.ts'
import { sendable } from './sendable.ts'

/** A long time offline is sent in pieces that stay well below the server's message limit. */
const MAX_UPDATES_PER_PUSH = 200
const RETRY_MS = 1_000

/** Answers to a push that do not get better by waiting. */
const REFUSED = new Set(['resync', 'invalid_payload', 'not_allowed', 'not_found'])

/** The document as its owner has it just now. */
interface Host {
  readonly id: string
  readonly wire: Wire
  readonly view: EditorView
  readonly confirmed: ConfirmedDocument | null
  readonly hears: boolean
  readonly events: Pick<Emitter<DocumentEvents>, 'emit'>
  join: () => Promise<void>
  reload: () => Promise<void>
}

export class Sender {
  private pushing = false

  constructor(private readonly host: Host) {}

  async push(): Promise<void> {
    const { id, wire, view, confirmed, hears, events } = this.host
    if (this.pushing || !hears || confirmed === null) return
    const version = getSyncedVersion(view.state)
    const updates = sendable(view.state).slice(0, MAX_UPDATES_PER_PUSH)
    if (updates.length === 0) return
    this.pushing = true
    try {
      await wire.call('document:push', { documentId: id, version, updates })
      events.emit('pushed', undefined)
      if (this.host.confirmed?.version === version && this.host.hears)
        throw new CallError({ code: 'timeout', message: 'Sent, but not heard back.' })
    } catch (error) {
      await this.failed(error)
    } finally {
      this.pushing = false
    }
    void this.push()
  }

  private async failed(error: unknown): Promise<void> {
    const code = error instanceof CallError ? error.code : 'unknown'
    if (code === 'offline') return
    // The server will never take these words as they are: load its text and give the words back to
    // the writer.
    if (REFUSED.has(code)) return this.host.reload()
    await new Promise((resume) => setTimeout(resume, RETRY_MS))
    if (code === 'timeout' && this.host.wire.connected) await this.host.join()
  }
}
