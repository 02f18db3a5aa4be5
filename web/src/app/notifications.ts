/**
 * Notifications of the browser, for who asked for them: that changes wait, while they look at
 * something else.
 */
import type { ToolApprovalRequest } from '../wire/generated.ts'
import type { Wire } from '../wire/socket.ts'
import { plural } from '../ui/timeFormat.ts'

const KEY = 'copydesk:notifications'

export function isNotifying(): boolean {
  return (
    'Notification' in window &&
    Notification.permission === 'granted' &&
    localStorage.getItem(KEY) === 'on'
  )
}

/** Whether they are on now: the browser may refuse. */
export async function setNotifying(wanted: boolean): Promise<boolean> {
  if (wanted && (await Notification.requestPermission()) === 'granted')
    localStorage.setItem(KEY, 'on')
  else localStorage.removeItem(KEY)
  return isNotifying()
}

/** What a notification says. */
export function wordsFor(
  request: Pick<ToolApprovalRequest, 'hunks' | 'author' | 'prompt' | 'document_id'>,
): { title: string; body: string } {
  const count = request.hunks.length
  const what =
    count > 0 ? `${plural(count, 'change')} ${count === 1 ? 'waits' : 'wait'}` : 'A request waits'
  return { title: `${what} for you`, body: `AI for ${request.author.name}: ${request.prompt}` }
}

export function watchRequests(wire: Wire): void {
  wire.on('tool_approval_request', (request) => {
    if (request.status !== 'pending' || !document.hidden || !isNotifying()) return
    const { title, body } = wordsFor(request)
    try {
      // The same request is sent again after a reconnect: it replaces itself.
      const shown = new Notification(title, { body, tag: request.request_id })
      shown.onclick = () => {
        window.focus()
        shown.close()
      }
    } catch {
      // Phones only let service workers notify.
    }
  })
}
