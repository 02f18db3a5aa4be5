/** The server wants to know who we are, or no longer wants us. */
import { useEffect, useState } from 'react'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { signInAddress, signInFailureWords, signInLink } from '../session/identityProvider.ts'
import {
  endedAt,
  goOnAsBefore,
  reasonOf,
  signIn,
  signInFailure,
  useSession,
} from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { useToasts } from '../ui/toasts.ts'
import { timeAgo } from '../ui/timeFormat.ts'
import { UnsentText } from './UnsentText.tsx'
import './SignIn.css'

export function SignIn() {
  const { refusal, guest } = useSession()
  const [token, setToken] = useState('')
  const { title, words, alert } = explanation(reasonOf(refusal), refusal?.message, endedAt(refusal))
  useEffect(() => {
    document.title = 'Copydesk'
    // What they offer to undo is out of reach.
    useToasts.setState({ toasts: [] })
  }, [])
  return (
    <main className="fault">
      <p className="product">
        <Icon name="book" size={20} /> <b>Copydesk</b>
      </p>
      <h1>{title}</h1>
      <p role={alert ? 'alert' : undefined}>{words}</p>
      {signInFailure !== undefined && <p role="alert">{signInFailureWords(signInFailure)}</p>}
      <UnsentText />
      <WithProvider />
      {guest && (
        <Button look="primary" onClick={goOnAsBefore}>
          Continue without this link
        </Button>
      )}
      <Form
        className="sign-in"
        onSubmit={() =>
          signIn(
            token
              .trim()
              .replace(/^.*#token=/, '')
              .replace(/&.*$/, ''),
          )
        }
      >
        <label htmlFor="token">Paste a link or a token here</label>
        <input
          id="token"
          className="field"
          type="password"
          autoComplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <Button look="primary" type="submit" disabled={token.trim() === ''}>
          Open
        </Button>
      </Form>
    </main>
  )
}

/** The way in for people whom the server's identity provider knows. */
function WithProvider() {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => void signInAddress().then(setAddress), [])
  if (address === null) return null
  return (
    <a className="button is-primary" href={signInLink(address, window.location.pathname)}>
      Sign in
    </a>
  )
}

interface Explanation {
  title: string
  words: string
  alert?: boolean
}

function explanation(
  reason: string | undefined,
  message: string | undefined,
  at: string | undefined,
): Explanation {
  const when = at === undefined ? '' : ` (${timeAgo(at, Date.now())})`
  switch (reason) {
    case 'token_revoked':
      return {
        title: 'Your access was taken back',
        words: `An owner revoked your link${when}. What you had saved is in the document; ask them for a new link to go on.`,
        alert: true,
      }
    case 'token_expired':
      return {
        title: 'Your access has ended',
        words: `Your link was good for a limited time${when}. What you had saved is in the document; ask an owner for a new link to go on.`,
        alert: true,
      }
    case 'signed_out':
      return { title: 'You are signed out', words: 'Your link brings you back in.' }
    case 'nobody':
      return {
        title: 'Open the link you were given',
        words:
          'Ask the person who runs this Copydesk for a link. Running it yourself? The link is in the terminal, after “open”.',
      }
    default:
      return {
        title: 'This link does not work',
        words: `The server refused it: ${message ?? 'it gave no reason'}.`,
        alert: true,
      }
  }
}
