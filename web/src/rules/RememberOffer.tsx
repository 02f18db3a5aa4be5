/** Beside approving: not to be asked about such a thing again, and exactly what that means. */
import { useId, useState } from 'react'
import { useCapability, useSession } from '../session/store.ts'
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
      <button
        type="button"
        className="button is-quiet remember-open"
        disabled={offline}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {titleFor(request)}…
      </button>
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
  const name = useId()
  const asker = useAsker(request)
  const wish: Remember = {
    scope: about === 'session' ? 'session' : 'document',
    max_units: size,
    ...(about === 'author' && { author: request.author.id }),
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
        <select
          className="field"
          value={size}
          onChange={(event) => setSize(Number(event.currentTarget.value))}
        >
          {sizes.map((choice) => (
            <option key={choice} value={choice}>
              {choice} characters
            </option>
          ))}
        </select>
      </label>
      <p>Deleted and added characters count together. This suggestion changes {units}.</p>
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
