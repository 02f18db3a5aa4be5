/** Files and HTML sent to the server's REST API as they are: what socket.io has no events for. */
import { credentials } from './store.ts'

/** Returns why the server refused, in words. */
export class Refused extends Error {}

/**
 * Posts a body as it is, and returns the answer. Throws {@link Refused}, also without an answer.
 */
export async function post<Answer>(
  path: string,
  body: BodyInit,
  type: string,
  signal?: AbortSignal,
): Promise<Answer> {
  const headers = { ...credentials(), 'Content-Type': type }
  const answer = await fetch(`/api/v1/${path}`, {
    method: 'POST',
    headers,
    body,
    ...(signal && { signal }),
  }).catch(() => {
    throw new Refused('the server isn’t answering')
  })
  if (!answer.ok) throw new Refused((await reason(answer)) ?? 'the server could not read it')
  return (await answer.json()) as Answer
}

/** A problem document (RFC 9457). */
export async function reason(answer: Response): Promise<string | undefined> {
  const problem: unknown = await answer.json().catch(() => null)
  const detail =
    typeof problem === 'object' && problem !== null && 'detail' in problem
      ? problem.detail
      : undefined
  return typeof detail === 'string' ? detail : undefined
}
