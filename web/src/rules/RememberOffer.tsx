/** Beside accepting all: not to be asked about such small corrections again, and exactly what that means. */
import { useId, useState } from 'react'
import { acceptAll } from '../review/decide.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import type { ApprovalRequest, Remember } from '../wire/types.ts'
import { allowed, canRemember, reach, sizesFor } from './wording.ts'

interface Props { request: ApprovalRequest; /** "Accept all 3" */ accept: string }

export function RememberOffer({ request, accept }: Props) {
  const supported = useCapability('rules')
  const offline = useSession((session) => session.link !== 'online')
  const [open, setOpen] = useState(false)
  if (!supported || !canRemember(request)) return null
  return (
    <>
      <button type="button" className="button is-quiet remember-open" disabled={offline} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Don’t ask again for small corrections…
      </button>
      {open && <Wish request={request} accept={accept} onClose={() => setOpen(false)} />}
    </>
  )
}

function Wish({ request, accept, onClose }: Props & { onClose: () => void }) {
  const me = useSession((session) => session.me?.user.id)
  const units = request.units ?? 0
  const sizes = sizesFor(units)
  const [size, setSize] = useState(sizes[0] ?? units)
  const [scope, setScope] = useState<'document' | 'session'>('document')
  const name = useId()
  const asker = request.author.id === me ? 'you' : request.author.name
  const wish: Remember = { scope, max_units: size }
  return (
    <Dialog
      title="Don’t ask again for small corrections"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button is-accept" onClick={() => void acceptAll(request, '', wish).then((done) => done && onClose())}>{accept} and remember</button>
          <button type="button" className="button is-quiet" onClick={onClose}>Cancel</button>
        </>
      }
    >
      <div className="wish">
        <label>
          Corrections of up to{' '}
          <select className="field" value={size} onChange={(event) => setSize(Number(event.currentTarget.value))}>
            {sizes.map((choice) => <option key={choice} value={choice}>{choice} characters</option>)}
          </select>
        </label>
        <p>Deleted and added characters count together. This suggestion changes {units}.</p>
        <fieldset>
          <legend>Asked for by</legend>
          <label><input type="radio" name={name} checked={scope === 'document'} onChange={() => setScope('document')} /> anybody, in this document</label>
          <label><input type="radio" name={name} checked={scope === 'session'} onChange={() => setScope('session')} /> {asker === 'you' ? 'only me, in this session' : `only ${asker}, in the session that asked`}</label>
        </fieldset>
        <div className="rule-sum">
          <b>What will be allowed</b>
          <p>{allowed(request.tool_name, wish)}, {reach(wish, asker)}: accepted at once, in your name, without anybody being asked.</p>
          <p>Everything is marked in the conversation and can be undone. Words somebody changed meanwhile, frozen words and anything larger still wait for people. You can revoke this under “rules”, above the suggestions.</p>
        </div>
      </div>
    </Dialog>
  )
}
