/** The dialog around a rule that is to be remembered. */
import type { ToolApprovalRequest, Remember } from '../wire/generated.ts'
import { toolName } from '../chat/tools.ts'
import type { ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { allowed, reach } from './wording.ts'
import { useSession } from '../session/store.ts'
import './RememberFrame.css'

export interface Props {
  request: ToolApprovalRequest
  /** "Accept all 3" */
  accept: string
  /** Approves, with the wish; whether it was taken. */
  send: (wish: Remember) => Promise<boolean>
}

export const titleFor = ({ document_id, tool_name }: ToolApprovalRequest): string =>
  `Don’t ask again for ${document_id === null ? toolName(tool_name) : 'small corrections'}`

export type Wishing = Props & { onClose: () => void }

interface FrameProps extends Wishing {
  wish: Remember
  /** The effect from now on. */ done: string
  more: string
  lacking?: boolean
  children: ReactNode
}

/** The choices, what they mean together, and the two ways on. */
export function Frame({
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
          <Button
            look="accept"
            data-decides=""
            disabled={lacking}
            onClick={() => void send(wish).then((sent) => sent && onClose())}
          >
            {accept} and remember
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
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

/** The person meant by a rule about the questions of one person. */
export function useAsker({ author }: ToolApprovalRequest): string {
  const me = useSession((session) => session.me?.user.id)
  return author.id === me ? 'you' : author.name
}
