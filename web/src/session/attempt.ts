/** Calls whose refusal is said to the person. */
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'

/** Awaits an answer of the server. A refusal gives nothing, and is said in the server's words. */
export async function attempt<T>(
  answer: Promise<T>,
  refused: (error: CallError) => void = ({ message }) => toast(message),
): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    refused(error)
    return undefined
  }
}
