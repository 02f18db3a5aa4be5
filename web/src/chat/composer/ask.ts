/** Asking for an edit, and stopping one. */
import { openDocument } from '../../document/openDocument.ts'
import { allSent } from '../../document/allSent.ts'
import { currentText, hunkFrom, hunkTo, proposedText } from '../../review/state/hunk.ts'
import { rejectHunk } from '../../review/actions/decide.ts'
import { asItIs } from '../../review/text/reviewField.ts'
import { attempt } from '../../session/attempt.ts'
import { useSession, wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import type { AskSelection, Hunk } from '../../wire/generated.ts'
import { askedAbout, rememberAsked } from './askedAbout.ts'
import { chosenModel } from './models.ts'
import { chosenMode } from '../modes.ts'
import { asked, failed, type ConversationRun, useChat } from '../store.ts'

/**
 * Sends the question about `scope`, or about the whole document. Where the cursor stands goes along
 * with each.
 */
export async function ask(
  prompt: string,
  scope: { from: number; to: number } | null,
): Promise<void> {
  await allSent()
  const document = openDocument()
  if (!document?.confirmed) return
  const { from, to } = scope ?? caret(document.view.state.selection.main.head)
  const [start, end] = [document.inServerText(from), document.inServerText(to)]
  await send(prompt, { text: document.confirmed.doc.sliceString(start, end), start, end })
}

const caret = (at: number) => ({ from: at, to: at })

/** The words that it was about are looked for anew by the server. */
export async function askOnceMore(run: Pick<ConversationRun, 'id' | 'prompt'>): Promise<void> {
  const selection = askedAbout(run.id)
  if (!selection) return ask(run.prompt, null)
  await allSent()
  await send(run.prompt, selection)
}

async function send(prompt: string, selection: Required<AskSelection>): Promise<void> {
  const current = openDocument()
  const me = useSession.getState().me
  if (!current || !me) return
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
  rememberAsked(requestId, selection)
  const model = chosenModel()
  const mode = chosenMode()
  const answer = wire.call('askClaudeCode', {
    sessionId: me.sessionId,
    prompt,
    requestId,
    ...(model && { model }),
    ...(mode && { permission_mode: mode }),
    context: { documentId: current.id, selection },
  })
  await attempt(answer, ({ message }) =>
    useChat.setState((chat) => failed(chat, requestId, message)),
  )
}

/**
 * The words under a conflict have changed: set that change aside and ask about the words as they
 * are now.
 */
export function askAgain(shown: Hunk): void {
  const view = openDocument()?.view
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
