/** Keeps the threads in step with an open document, and has them drawn in its text. */
import { EditorView } from '@codemirror/view'
import type { LiveDocument } from '../../document/liveDocument.ts'
import { noteMentionsIn } from '../../session/mentions.ts'
import { useSession } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import type { CommentThread, ReadThread } from '../../wire/generated.ts'
import type { Wire } from '../../wire/socket.ts'
import {
  announcement,
  followChanges,
  mentionsOf,
  newComments,
  type ThreadsAt,
  withThread,
} from '../state/threads.ts'
import { NO_COMMENTS, showThread, threadOf, useComments } from '../stores/threads.ts'
import { linkedThread } from './link.ts'

/** Most threads that one answer has. */
export const MOST_THREADS = 1_000

/** Pause before it is looked again whether a word is still being composed. */
const LATER_MS = 250

let current: DocumentComments | null = null

/** Takes threads from an answer of the server. */
export const takeThreads = (answer: ThreadsAt): void => current?.take(answer)

/** A person has read a thread. */
export const markRead = (id: string): void => current?.read(id)

/** Forgets the threads of the document before. */
export function followComments(document: LiveDocument, wire: Wire): void {
  useComments.setState(NO_COMMENTS)
  const comments = new DocumentComments(document, wire)
  current = comments
  const stop = useComments.subscribe(() => comments.draw())
  const follow = () => void comments.openLink()
  window.addEventListener('hashchange', follow)
  const { events } = document
  events.on('opened', (opened) => {
    const { threads } = opened
    const version = opened.document?.version ?? opened.version
    if (threads && version !== undefined) comments.opened({ version, threads })
  })
  events.on('threadChanged', ({ version, thread }) =>
    comments.take({ version, threads: [thread] }, true),
  )
  events.on('delivered', () => comments.settle())
  const hear = wire.on('comment:unread', (news) => {
    if (news.documentId === document.id) comments.readElsewhere(news.read)
  })
  events.on('closed', () => {
    stop()
    hear()
    window.removeEventListener('hashchange', follow)
    if (current === comments) current = null
    useComments.setState(NO_COMMENTS)
  })
}

/** Threads of a version that our copy has not reached, and whether they are news. */
type Waiting = ThreadsAt & { isNews: boolean }

class DocumentComments {
  /** With places in the server's text at `version`. */
  private threads: readonly CommentThread[] = []
  private version = 0
  private waiting: readonly Waiting[] = []
  private isDrawn = false
  private isLinked = false

  constructor(
    private readonly document: LiveDocument,
    private readonly wire: Wire,
  ) {}

  /** All threads that are not resolved; the resolved ones that are known stay. */
  opened({ version, threads }: ThreadsAt): void {
    const resolved = this.threads.filter(({ status }) => status === 'resolved')
    this.threads = threads.reduce(withThread, resolved)
    this.version = version
    this.waiting = this.waiting.filter((part) => part.version > version)
    useComments.setState({ threads: this.threads })
    this.settle()
    if (threads.length > 0) void this.readAll()
    if (!this.isLinked) void this.openLink()
    this.isLinked = true
  }

  take(part: ThreadsAt, isNews = false): void {
    this.waiting = [...this.waiting, { ...part, isNews }]
    this.settle()
  }

  /** Goes along with our copy of the server's text. */
  settle(): void {
    const { confirmed } = this.document
    if (!confirmed) return
    const path = confirmed.since(this.version)
    this.version = confirmed.version
    // The page was away for long: all places are asked for anew.
    if (!path) return void this.readAll()
    this.threads = followChanges(this.threads, path)
    const ready = this.waiting.filter(({ version }) => version <= confirmed.version)
    if (ready.length === 0) return this.draw()
    this.waiting = this.waiting.filter((part) => !ready.includes(part))
    for (const { version, threads, isNews } of ready)
      for (const thread of followChanges(threads, confirmed.since(version) ?? []))
        this.put(thread, isNews)
    useComments.setState({ threads: this.threads })
  }

  private put(thread: CommentThread, isNews: boolean): void {
    const before = this.threads.find(({ id }) => id === thread.id)
    this.threads = withThread(this.threads, thread)
    const fresh = isNews ? newComments(thread, before, useSession.getState().me?.user.id) : []
    // A resolved thread that was not known has nothing new by being reopened.
    if (fresh.length === 0 || (!before && thread.comments.length > 1)) return
    useComments.setState(({ unread }) => ({ unread: new Set([...unread, thread.id]) }))
    this.document.view.dispatch({
      effects: fresh.map((comment) => EditorView.announce.of(announcement(thread, comment))),
    })
  }

  read(id: string): void {
    const unread = new Set(useComments.getState().unread)
    if (!unread.delete(id)) return
    useComments.setState({ unread })
    // Without an answer it is unread again with the next page.
    void this.wire
      .call('comment:read', { documentId: this.document.id, threadIds: [id] })
      .catch(() => undefined)
  }

  /** Threads that were read on one of our devices, as far as they had comments then. */
  readElsewhere(read: readonly ReadThread[]): void {
    const counts = new Map(read.map(({ id, comments }) => [id, comments]))
    const isRead = (id: string) =>
      (threadOf(id)?.comments.length ?? Infinity) <= (counts.get(id) ?? -1)
    useComments.setState(({ unread }) => ({
      unread: new Set([...unread].filter((id) => !isRead(id))),
    }))
  }

  /** Asks for the newest threads of every status, and for those that are unread. */
  private async readAll(): Promise<void> {
    const wanted = { documentId: this.document.id, limit: MOST_THREADS }
    const answer = await this.wire.call('comment:list', wanted).catch(() => null)
    if (!answer || current !== this) return
    const unread = new Set(answer.unread)
    useComments.setState({ unread })
    const me = useSession.getState().me?.user.id
    noteMentionsIn(this.document.id, mentionsOf(answer.threads, unread, me))
    this.take(answer)
  }

  /** Shows the thread that the address names; a resolved one is fetched. */
  async openLink(): Promise<void> {
    const id = linkedThread(window.location.hash)
    if (id === null) return
    if (!threadOf(id)) await this.readAll()
    if (threadOf(id)) showThread(id)
    else toast('The comment of this link was deleted.')
  }

  /** The layer is fetched once there is something to draw. */
  draw(): void {
    const { document } = this
    this.isDrawn ||=
      this.threads.some(({ anchor }) => anchor) ||
      useComments.getState().composing?.on === 'passage'
    if (!this.isDrawn) return
    // A mark that comes beside a half-composed word would disturb it.
    if (document.view.compositionStarted) return void setTimeout(() => this.draw(), LATER_MS)
    void import('../text/anchors.ts').then(({ drawAnchors }) => {
      if (current === this && document.confirmed)
        drawAnchors(document.view, followChanges(this.threads, document.unconfirmed()))
    })
  }
}
