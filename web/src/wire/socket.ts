/** The only place that touches socket.io: typed events in, typed acks out. */
import { io, type Socket } from 'socket.io-client'
import type { Calls, ServerEvents } from './calls.generated.ts'
import type { MoveCaret, WireError } from './generated.ts'

/** The answer to an event. */
export type Ack<T> = ({ ok: true } & T) | { ok: false; error: WireError }

/** An event was refused, or nobody answered; `code` is the server's, or `offline` / `timeout`. */
export class CallError extends Error {
  readonly code: string
  readonly details: unknown
  constructor(error: WireError) {
    super(error.message)
    this.code = error.code
    this.details = error.details
  }
}

/** Reads the message of a refused handshake: `CODE: words`. */
export function connectRefusal(message: string): WireError {
  const end = message.indexOf(':')
  return end < 0
    ? { code: '', message }
    : { code: message.slice(0, end), message: message.slice(end + 1).trim() }
}

export type Auth = {
  token?: string
  name?: string
  protocol: 1
  sessionId?: string
  capabilities: string[]
}
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- socket.io's own signature
type Listener = (payload: any) => void

/**
 * How long an answer may take before the call counts as lost; a lost push is sent again and
 * recognised by the server.
 */
const ANSWER_MS = 15_000

export class Wire {
  private readonly socket: Socket

  /** `auth` is asked again at every connect, so that a resumed session is named. */
  constructor(auth: () => Auth, url?: string) {
    const options = {
      auth: (send: (auth: object) => void) => send(auth()),
      autoConnect: false,
      reconnectionDelay: 400,
      reconnectionDelayMax: 5_000,
    }
    this.socket = url === undefined ? io(options) : io(url, options)
  }

  get connected(): boolean {
    return this.socket.connected
  }

  connect(): void {
    this.socket.connect()
  }

  disconnect(): void {
    this.socket.disconnect()
  }

  on<E extends keyof ServerEvents>(
    event: E,
    listener: (payload: ServerEvents[E]) => void,
  ): () => void {
    this.socket.on(event as string, listener as Listener)
    return () => this.socket.off(event as string, listener as Listener)
  }

  /**
   * `byServer` is set when the server ended the connection on purpose: then nobody connects again
   * by themselves.
   */
  onDisconnect(listener: (byServer: boolean) => void): () => void {
    const relay = (reason: string) => listener(reason === 'io server disconnect')
    this.socket.on('disconnect', relay)
    return () => this.socket.off('disconnect', relay)
  }

  /**
   * `refusal` is set when the server answered no, and missing when it could not be reached: then
   * the socket goes on trying.
   */
  onConnectError(listener: (refusal?: WireError) => void): () => void {
    const relay = (error: Error) =>
      listener(this.socket.active ? undefined : connectRefusal(error.message))
    this.socket.on('connect_error', relay)
    return () => this.socket.off('connect_error', relay)
  }

  /** Rejects with a {@link CallError}; never waits for a connection to come back. */
  async call<E extends keyof Calls>(event: E, payload: Calls[E][0]): Promise<Calls[E][1]> {
    if (!this.socket.connected)
      throw new CallError({ code: 'offline', message: 'The server cannot be reached just now.' })
    let answer: Ack<Calls[E][1]>
    try {
      answer = (await this.socket.timeout(ANSWER_MS).emitWithAck(event, payload)) as Ack<
        Calls[E][1]
      >
    } catch {
      throw new CallError({ code: 'timeout', message: 'The server did not answer.' })
    }
    if (!answer.ok) throw new CallError(answer.error)
    return answer
  }

  /** Fire and forget: dropped when the connection is slow. */
  volatile(event: 'presence:update', payload: MoveCaret): void {
    if (this.socket.connected) this.socket.volatile.emit(event, payload)
  }
}
