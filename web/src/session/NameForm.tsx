/** Asks the owner for a name: it is what others read beside what they write and decide. */
import { useState } from 'react'
import { Problem } from '../ui/Problem.tsx'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { keep, readKept } from './browserStorage.ts'
import { isNameless, nameMyself, useSession } from './store.ts'
import { toast } from '../ui/toasts.ts'
import './NameForm.css'

/** That the question was put aside, in this browser. */
const ASKED = 'copydesk:name-asked'

/** Shown before another person is let in, until it is answered or put aside. */
export function NameQuestion() {
  const nameless = useSession(({ me }) => isNameless(me))
  const [aside, setAside] = useState(() => readKept(ASKED) !== null)
  if (!nameless || aside) return null
  const later = () => {
    keep(ASKED, 'yes')
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
    <Form className="name-form" onSubmit={() => void save()}>
      <input
        aria-label="Your name"
        className="field"
        value={name}
        maxLength={80}
        autoComplete="name"
        placeholder="Your name"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Button
        look="primary"
        type="submit"
        disabled={!online || name.trim() === '' || name.trim() === initial}
      >
        Save
      </Button>
      {onLater && (
        <Button look="quiet" onClick={onLater}>
          Not now
        </Button>
      )}
      <Problem words={problem} />
    </Form>
  )
}
