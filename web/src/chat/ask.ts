/** Asking for an edit, and stopping one. */
import { getCurrent } from '../editor/sync/currentDocument.ts'
import { allSent } from '../editor/sync/allSent.ts'
import { currentText, hunkFrom, hunkTo, proposedText } from '../review/changes/hunk.ts'
import { rejectHunk } from '../review/state/decide.ts'
import { asItIs } from '../review/changes/reviewField.ts'
import { useSession, wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import type { Hunk } from '../wire/generated.ts'
import { chosenModel } from './models.ts'
import { chosenMode } from './modes.ts'
import { asked, failed, useChat } from './store.ts'

/** Sends the question; the selection goes along when `scoped`. */
export async function ask(
  prompt: string,
  scope: { from: number; to: number } | null,
): Promise<void> {
  const current = getCurrent()
  const me = useSession.getState().me
  if (!current || !me) return
  await allSent()
  const requestId = `run_${crypto.randomUUID().replaceAll('-', '')}`
  useChat.setState((chat) =>
    asked(chat, {
      id: requestId,
      sessionId: me.sessionId,
      prompt,
      author: me.user.name,
      at: new Date().toISOString(),
    }),
  )
  const selection = scope && {
    text: current.view.state.sliceDoc(scope.from, scope.to),
    start: scope.from,
    end: scope.to,
  }
  const model = chosenModel()
  const mode = chosenMode()
  try {
    await wire.call('askClaudeCode', {
      sessionId: me.sessionId,
      prompt,
      requestId,
      ...(model && { model }),
      ...(mode && { permission_mode: mode }),
      context: { documentId: current.id, ...(selection && { selection }) },
    })
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    useChat.setState((chat) => failed(chat, requestId, error.message))
  }
}

/** The words under a conflict have changed: set that change aside and ask about the words as they are now. */
export function askAgain(shown: Hunk): void {
  const view = getCurrent()?.view
  if (!view) return
  const hunk = asItIs(view.state, shown)
  const [from, to] = [hunkFrom(hunk), hunkTo(hunk)]
  const prompt = `Look at this passage again as it reads now. You had suggested: “${proposedText(hunk, view.state.doc)}”. It now says: “${currentText(hunk, view.state.doc)}”.`
  void rejectHunk(hunk, { words: 'The text had changed; asked again.' }).then((done) => {
    if (done) void ask(prompt, from < to ? { from, to } : null)
  })
}

export function cancelRun(requestId: string): void {
  wire.call('cancel', { requestId }).catch((error: Error) => toast(error.message))
}
