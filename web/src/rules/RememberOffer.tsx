/** Beside approving: not to be asked about such a thing again, and exactly what that means. */
import { type ReactNode, useId, useState } from 'react'
import { toolName } from '../chat/tools.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { useFocusOnce } from '../ui/useFocusOnce.ts'
import type { ToolApprovalRequest, Remember } from '../wire/generated.ts'
import { allowed, canRemember, patternsFor, reach, sizesInInbox, sizesFor } from './wording.ts'

interface Props {
  request: ToolApprovalRequest
  /** "Accept all 3" */
  accept: string
  /** Approves, with the wish; whether it was taken. */
  send: (wish: Remember) => Promise<boolean>
}

const titleFor = ({ document_id, tool_name }: ToolApprovalRequest): string =>
  `Don’t ask again for ${document_id === null ? toolName(tool_name) : 'small corrections'}`

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

/** Who is meant where a rule holds for what one person asks. */
function useAsker({ author }: ToolApprovalRequest): string {
  const me = useSession((session) => session.me?.user.id)
  return author.id === me ? 'you' : author.name
}

type Wishing = Props & { onClose: () => void }

/** Whose requests a rule for a document is about. */
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

/** Every file; another pattern. */
const [EVERY, OTHER] = ['every', 'other']

/**
 * What belongs to no document is remembered for the session that asked; owners make wider rules
 * below the cards.
 */
function InboxWish(props: Wishing) {
  const { request } = props
  const units = request.units ?? 0
  const patterns = request.tool_name === 'create_new_document' ? [] : patternsFor(request.file_path)
  const [size, setSize] = useState(sizesInInbox(units)[0])
  const [chosen, setChosen] = useState(patterns[0]?.pattern ?? EVERY)
  const [own, setOwn] = useState('')
  const path = chosen === EVERY ? '' : chosen === OTHER ? own.trim() : chosen
  const wish: Remember = {
    scope: 'session',
    ...(path && { path }),
    ...(size !== undefined && { max_units: size }),
  }
  return (
    <Frame
      {...props}
      wish={wish}
      done="approved"
      lacking={chosen === OTHER && path === ''}
      more="Each is shown here with your rule on it. Commands, hidden files and whatever has a warning still wait for people. You can revoke this under “Rules”, below the requests."
    >
      {patterns.length > 0 && (
        <label>
          Files:{' '}
          <select
            className="field"
            value={chosen}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            {patterns.map(({ pattern, words }) => (
              <option key={pattern} value={pattern}>
                {words}
              </option>
            ))}
            <option value={EVERY}>every file</option>
            <option value={OTHER}>files like…</option>
          </select>
        </label>
      )}
      {chosen === OTHER && <Pattern text={own} onChange={setOwn} />}
      <label>
        Changes of{' '}
        <select
          className="field"
          value={size ?? ''}
          onChange={(event) =>
            setSize(
              event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value),
            )
          }
        >
          {sizesInInbox(units).map((choice) => (
            <option key={choice ?? ''} value={choice ?? ''}>
              {choice === undefined ? 'any size' : `up to ${choice} characters`}
            </option>
          ))}
        </select>
      </label>
      <p>Deleted and added characters count together. This one changes {units}.</p>
    </Frame>
  )
}

function Pattern({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const field = useFocusOnce<HTMLInputElement>()
  return (
    <label>
      Pattern:{' '}
      <input
        className="field"
        size={18}
        ref={field}
        spellCheck={false}
        autoCapitalize="off"
        placeholder="notes/**/*.md"
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}

interface FrameProps extends Wishing {
  wish: Remember
  /** What happens from now on. */ done: string
  more: string
  lacking?: boolean
  children: ReactNode
}

/** The choices, what they mean together, and the two ways on. */
function Frame({
  request,
  accept,
  send,
  onClose,
  wish,
  done,
  more,
  lacking = false,
  children,
}: FrameProps) {
  const asker = useAsker(request)
  return (
    <Dialog
      title={titleFor(request)}
      onClose={onClose}
      foot={
        <>
          <button
            data-decides=""
            type="button"
            className="button is-accept"
            disabled={lacking}
            onClick={() => void send(wish).then((sent) => sent && onClose())}
          >
            {accept} and remember
          </button>
          <button type="button" className="button is-quiet" onClick={onClose}>
            Cancel
          </button>
        </>
      }
    >
      <div className="wish" onKeyDown={(event) => event.stopPropagation()}>
        {children}
        <div className="rule-sum">
          <b>What will be allowed</b>
          <p>
            {allowed(request.tool_name, wish)}, {reach(wish, asker)}: {done} at once, in your name,
            without anybody being asked.
          </p>
          <p>{more}</p>
        </div>
      </div>
    </Dialog>
  )
}
