// What stories do to documents without a browser: as other programs do.
import { TOKEN } from './support.mjs'

/** The id in the address of a document. */
export const idOf = (address) => new URL(address).pathname.split('/').at(-1)

async function request(server, id, method, path, body) {
  const answer = await fetch(`${server.url}/api/v1/documents/${id}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

const ask = async (server, id, method, path = '', body) =>
  (await request(server, id, method, path, body)).json()

/** The document as a file. */
export async function exportOf(server, id, format) {
  const answer = await request(server, id, 'GET', `/export?format=${format}`)
  return Buffer.from(await answer.arrayBuffer())
}

export const textOf = async (server, id) => (await ask(server, id, 'GET')).text

/** Changes the text of a document, as somebody else. */
export async function editText(server, id, change) {
  const { text, version } = await ask(server, id, 'GET')
  await ask(server, id, 'POST', '/edits', { version, text: change(text) })
}
