/** Beside approving: not to be asked about such a thing again, and exactly what that means. */
import { useId, useState } from 'react'
import { useCapability, useSession } from '../session/store.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Form.tsx'
import { Choice } from '../ui/Choice.tsx'
import type { Remember } from '../wire/generated.ts'
import { canRemember, sizesFor } from './wording.ts'
import { type Props, titleFor, type Wishing, Frame, useAsker } from './RememberFrame.tsx'
import { InboxWish } from './InboxWish.tsx'
import './RememberOffer.css'

export function RememberOffer(props: Props) {
  const { request } = props
  const supported = useCapability('rules')
  const offline = useSession((session) => session.link !== 'online')
  const [open, setOpen] = useState(false)
  if (!supported || !canRemember(request)) return null
  const Wish = request.document_id === null ? InboxWish : DocumentWish
  return (
    <>
      <Button
        look="quiet"
        className="remember-open"
        disabled={offline}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {titleFor(request)}…
      </Button>
      {open && <Wish {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

/** The people whose requests a rule for a document is about. */
type About = 'anybody' | 'author' | 'session'

function DocumentWish(props: Wishing) {
  const { request } = props
  const units = request.units ?? 0
  const sizes = sizesFor(units)
  const [size, setSize] = useState(sizes[0] ?? units)
  const [about, setAbout] = useState<About>('anybody')
  const [unmarked, setUnmarked] = useState(true)
  const name = useId()
  const asker = useAsker(request)
  const wish: Remember = {
    scope: about === 'session' ? 'session' : 'document',
    max_units: size,
    ...(about === 'author' && { author: request.author.id }),
    ...(unmarked && { unmarked }),
  }
  const only = asker === 'you' ? 'only me' : `only ${asker}`
  const choices: [About, string][] = [
    ['anybody', 'anybody, in this document'],
    ['author', `${only}, in this document`],
    ['session', `${only}, in ${asker === 'you' ? 'this session' : 'the session that asked'}`],
  ]
  return (
    <Frame
      {...props}
      wish={wish}
      done="accepted"
      more="Everything is marked in the conversation and can be undone. Words somebody changed meanwhile, frozen words and anything larger still wait for people. You can revoke this under “Rules”, above the suggestions."
    >
      <label>
        Corrections of up to{' '}
        <Choice
          value={size}
          options={sizes.map((choice) => [choice, `${choice} characters`])}
          onChoose={setSize}
        />
      </label>
      <p>Deleted and added characters count together. This suggestion changes {units}.</p>
      <Checkbox checked={unmarked} onChange={setUnmarked}>
        Only for changes that keep the meaning: no number, name, “not” or the like differs
      </Checkbox>
      <fieldset>
        <legend>Asked for by</legend>
        {choices.map(([choice, words]) => (
          <label key={choice}>
            <input
              type="radio"
              name={name}
              checked={about === choice}
              onChange={() => setAbout(choice)}
            />{' '}
            {words}
          </label>
        ))}
      </fieldset>
    </Frame>
  )
}
