/** Asks the owner for a name: it is what others read beside what they write and decide. */
import { useState } from 'react'
import { isNameless, nameMyself, useSession } from './store.ts'
import { toast } from '../ui/toasts.ts'
import './NameForm.css'

/** That the question was put aside, in this browser. */
const ASKED = 'copydesk:name-asked'

/** Shown before another person is let in, until it is answered or put aside. */
export function NameQuestion() {
  const nameless = useSession(({ me }) => isNameless(me))
  const [aside, setAside] = useState(() => localStorage.getItem(ASKED) !== null)
  if (!nameless || aside) return null
  const later = () => {
    localStorage.setItem(ASKED, 'yes')
    setAside(true)
  }
  return (
    <section className="name-question" aria-labelledby="name-question">
      <h3 id="name-question">What is your name?</h3>
      <p>Others see it beside what you write and decide. You can change it later under You.</p>
      <NameForm initial="" onLater={later} />
    </section>
  )
}

interface Props {
  initial: string
  onLater?: () => void
}

export function NameForm({ initial, onLater }: Props) {
  const [name, setName] = useState(initial)
  const [problem, setProblem] = useState<string | null>(null)
  const online = useSession(({ link }) => link === 'online')
  const save = async () => {
    const refused = await nameMyself(name.trim())
    setProblem(refused)
    if (refused === null) toast(`Your name is now ${name.trim()}.`)
  }
  return (
    <form
      className="name-form"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <label className="hidden-label" htmlFor="my-name">
        Your name
      </label>
      <input
        id="my-name"
        className="field"
        value={name}
        maxLength={80}
        autoComplete="name"
        placeholder="Your name"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button
        type="submit"
        className="button is-primary"
        disabled={!online || name.trim() === '' || name.trim() === initial}
      >
        Save
      </button>
      {onLater && (
        <button type="button" className="button is-quiet" onClick={onLater}>
          Not now
        </button>
      )}
      {problem && (
        <p className="warn-note" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
