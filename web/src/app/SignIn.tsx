/** The server wants to know who we are. */
import { useState } from 'react'
import { signIn, useSession } from '../session/store.ts'

export function SignIn() {
  const refusal = useSession((session) => session.refusal)
  const [token, setToken] = useState('')
  return (
    <main className="fault">
      <h1>Open the link with your token</h1>
      <p>Copydesk prints it when it starts: a line that begins with “open”.</p>
      {refusal && window.sessionStorage.getItem('copydesk:token') && <p className="warn-note" role="alert">The server does not take this token: {refusal.message}.</p>}
      <form
        className="sign-in"
        onSubmit={(event) => {
          event.preventDefault()
          signIn(token.trim().replace(/^.*#token=/, '').replace(/&.*$/, ''))
        }}
      >
        <label htmlFor="token">Or paste the link or the token here</label>
        <input id="token" className="field" type="password" autoComplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        <button type="submit" className="button is-primary" disabled={token.trim() === ''}>
          Open
        </button>
      </form>
    </main>
  )
}
