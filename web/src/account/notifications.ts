/**
 * Notifications of the browser, for who asked for them: that changes wait, while they look at
 * something else.
 */
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { mayDecide } from '../review/state/permissions.ts'
import { useSession } from '../session/store.ts'
import type { DocumentLine, ToolApprovalRequest } from '../wire/generated.ts'
import { plural } from '../ui/timeFormat.ts'
import { keep, readKept } from '../session/browserStorage.ts'
import { proposedBy } from '../ui/importReport.ts'
import { waitingWords } from '../navigation/tabTitle.ts'

const KEY = 'copydesk:notifications'

export function isNotifying(): boolean {
  return 'Notification' in window && Notification.permission === 'granted' && readKept(KEY) === 'on'
}

/** Returns whether they are on now: the browser may refuse. */
export async function setNotifying(wanted: boolean): Promise<boolean> {
  const isGranted = wanted && (await Notification.requestPermission()) === 'granted'
  keep(KEY, isGranted ? 'on' : null)
  return isNotifying()
}

interface Words {
  title: string
  body: string
}

/** Words of a notification about a request; `decides`: for a person who may decide it. */
export function wordsFor(
  request: Pick<
    ToolApprovalRequest,
    'hunks' | 'author' | 'claimedAuthor' | 'prompt' | 'document_id'
  >,
  decides: boolean,
): Words {
  const count = request.hunks.length
  const title = decides
    ? count > 0
      ? `${count} to review`
      : '1 request to review'
    : count > 0
      ? `${plural(count, 'change')} for others to decide`
      : '1 request for others to decide'
  return { title, body: [proposedBy(request), request.prompt].filter(Boolean).join(': ') }
}

/**
 * Requests that came to wait for us in documents that are not open, since the list was read before;
 * each with its document. Pure.
 */
export function moreWaiting(
  before: readonly DocumentLine[],
  now: readonly DocumentLine[],
): (Words & { tag: string })[] {
  return now.flatMap(({ id, title, waiting, waitingForYou }) => {
    const known = before.find((line) => line.id === id)?.waitingForYou ?? 0
    if (waitingForYou <= known) return []
    const words = waitingWords({ mine: waitingForYou, all: waiting })
    return [{ title: words, body: title || 'Untitled', tag: id }]
  })
}

export function notifyOfMore(before: readonly DocumentLine[], now: readonly DocumentLine[]): void {
  if (!isNotifying()) return
  for (const { tag, ...words } of moreWaiting(before, now)) show(words, tag)
}

/** Returns whether we may decide a request: in the open document by our role there. */
function decides(request: ToolApprovalRequest): boolean {
  const me = useSession.getState().me
  const { id, role } = useOpenDocument.getState()
  const isOpen = request.document_id !== null && request.document_id === id
  return mayDecide(request, { id: me?.user.id, role: isOpen ? role : (me?.role ?? 'viewer') })
}

export function notifyOfRequest(request: ToolApprovalRequest): void {
  if (request.status !== 'pending' || !document.hidden || !isNotifying()) return
  // The same request is sent again after a reconnect: it replaces itself.
  show(wordsFor(request, decides(request)), request.request_id)
}

function show({ title, body }: Words, tag: string): void {
  try {
    const shown = new Notification(title, { body, tag })
    shown.onclick = () => {
      window.focus()
      shown.close()
    }
  } catch {
    // Phones only let service workers notify.
  }
}
