/**
 * The server's side of an open document: its text, version and pending hunks, exactly as the server
 * has them. Pure.
 */
import { ChangeSet, type ChangeDesc, Text } from '@codemirror/state'
import { fits, inOrder, isOpen, rebaseHunk, received } from '../review/state/hunk.ts'
import { follow } from './frozenRanges.ts'
import type { ToolApprovalRequest, Hunk, HunkChanges, Range, Update } from '../wire/generated.ts'

/** Number of updates back from which a late caret or request can still be mapped. */
const REMEMBERED_UPDATES = 256

/** The server said something that does not fit our copy: reload. */
export class OutOfStep extends Error {}

/** CodeMirror itself throws range errors when positions make no sense. */
export function isOutOfStep(error: unknown): error is Error {
  return error instanceof OutOfStep || error instanceof RangeError
}

export class ConfirmedDocument {
  doc: Text
  version: number
  hunks: readonly Hunk[] = []
  /** Passages no tool may touch. */
  frozen: readonly Range[] = []
  private recent: ChangeSet[] = []

  constructor(text: string, version: number) {
    this.doc = Text.of(text.split('\n'))
    this.version = version
  }

  /** One committed update, ours or not. Throws {@link OutOfStep} before anything changed. */
  commit(update: Update): ChangeSet {
    const changes = parseChanges(update.changes, this.doc.length)
    this.doc = changes.apply(this.doc)
    this.version += 1
    this.hunks = this.hunks
      .map((hunk) => rebaseHunk(hunk, changes, this.doc))
      .filter((hunk) => isOpen(hunk.status))
    this.frozen = follow(this.frozen, changes)
    this.recent.push(changes)
    if (this.recent.length > REMEMBERED_UPDATES) this.recent.shift()
    return changes
  }

  /** Hunk changes that came with the updates. */
  change({ drop, put }: HunkChanges): void {
    const gone = new Set([...drop, ...put.map((hunk) => hunk.id)])
    this.accept([...this.hunks.filter((hunk) => !gone.has(hunk.id)), ...put])
  }

  /**
   * A newly announced request. The server sends it in step with the updates, so its positions are
   * of our version.
   */
  add(request: ToolApprovalRequest): void {
    if (request.version !== this.version)
      throw new OutOfStep(`request at version ${request.version}, we are at ${this.version}`)
    // It takes the place of what was seen of it while it was being written.
    this.accept([
      ...this.hunks.filter((hunk) => hunk.request_id !== request.request_id),
      ...request.hunks,
    ])
  }

  /**
   * The complete list of an `ack`: what is not in it is gone. Returns the requests that cannot be
   * drawn.
   */
  replace(
    requests: readonly ToolApprovalRequest[],
    streaming: readonly Hunk[] = [],
  ): ToolApprovalRequest[] {
    const drawable = (request: ToolApprovalRequest) =>
      request.version === this.version &&
      request.hunks.every((hunk) => !isOpen(hunk.status) || fits(hunk, this.doc))
    this.accept([
      ...requests.filter(drawable).flatMap((request) => request.hunks),
      ...streaming.filter((hunk) => fits(hunk, this.doc)),
    ])
    return requests.filter((request) => !drawable(request))
  }

  drop(gone: (hunk: Hunk) => boolean): void {
    this.hunks = this.hunks.filter((hunk) => !gone(hunk))
  }

  /** The hunks as they stand in the local text, which is ahead by what is not yet acknowledged. */
  project(unconfirmed: readonly ChangeSet[]): Hunk[] {
    let doc = this.doc
    let hunks = [...this.hunks]
    for (const changes of unconfirmed) {
      doc = changes.apply(doc)
      const after = doc
      hunks = hunks.map((hunk) => rebaseHunk(hunk, changes, after))
    }
    return hunks
  }

  /** The frozen passages as they stand in the local text. */
  projectFrozen(unconfirmed: readonly ChangeSet[]): readonly Range[] {
    return unconfirmed.reduce((ranges, changes) => follow(ranges, changes), this.frozen)
  }

  /** The changes from `version` to now, or `null` when it is too old or not there yet. */
  since(version: number): readonly ChangeDesc[] | null {
    const missed = this.version - version
    if (missed < 0 || missed > this.recent.length) return null
    return missed === 0 ? [] : this.recent.slice(-missed)
  }

  private accept(hunks: readonly Hunk[]): void {
    const open = hunks.filter((hunk) => isOpen(hunk.status))
    const misfit = open.find((hunk) => !fits(hunk, this.doc))
    if (misfit) throw new OutOfStep(`hunk ${misfit.id} does not fit version ${this.version}`)
    this.hunks = open.map((hunk) => received(hunk, this.doc)).toSorted(inOrder)
  }
}

/** `ChangeSet.fromJSON` trusts its input; this does not. Without `length`, any length will do. */
export function parseChanges(json: unknown, length?: number): ChangeSet {
  if (!Array.isArray(json) || !json.every(isSection)) throw new OutOfStep('malformed changes')
  let changes: ChangeSet
  try {
    changes = ChangeSet.fromJSON(json)
  } catch (cause) {
    throw new OutOfStep('malformed changes', { cause })
  }
  if (length !== undefined && changes.length !== length)
    throw new OutOfStep(`changes for length ${changes.length}, text has ${length}`)
  return changes
}

function isSection(section: unknown): boolean {
  if (Array.isArray(section)) {
    const [deleted, ...lines] = section as unknown[]
    return (
      isCount(deleted) && lines.every((line) => typeof line === 'string' && !/[\r\n]/.test(line))
    )
  }
  return isCount(section)
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
