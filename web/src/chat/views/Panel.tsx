/** The side of the page where edits are asked for and reviewed; a bottom sheet on small screens. */
import { Suspense } from 'react'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { BatchDecision } from '../../review/views/BatchDecision.tsx'
import { Bin } from '../../review/views/Bin.tsx'
import { OrphanedDrafts } from '../../review/views/OrphanedDrafts.tsx'
import { ReviewSettings } from '../../review/views/ReviewSettings.tsx'
import { usePanel } from '../../review/stores/panel.ts'
import { Rules } from '../../rules/Rules.tsx'
import { useCapability, useSession } from '../../session/store.ts'
import { Icon } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { Composer } from './Composer.tsx'
import { clearConversation } from '../composer/conversation.ts'
import { remembers, useChat } from '../store.ts'
import { canWrite } from '../../session/roles.ts'
import { useConversation } from './useConversation.ts'
import { Conversation } from './Conversation.tsx'
import './Panel.css'

const CompareDialog = lazyPart(() =>
  import('../../review/views/CompareDialog.tsx').then((all) => all.CompareDialog),
)

export function Panel() {
  const id = useOpenDocument((state) => state.id)
  const open = usePanel((panel) => panel.open)
  const view = usePanel((panel) => panel.view)
  const comparing = usePanel((panel) => panel.comparing)
  useConversation(id)
  const isBin = view === 'bin'
  return (
    <aside
      className={`panel ${open ? 'is-open' : ''}`}
      aria-label="Suggestions"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isBin) usePanel.setState({ view: 'suggestions' })
      }}
    >
      <div className="panel-head">
        <h2>{isBin ? 'Bin' : 'Suggestions'}</h2>
        <button
          type="button"
          className="button is-quiet"
          title={
            isBin ? 'Back to the suggestions (Esc)' : 'Rejected and expired changes are kept here'
          }
          onClick={() => usePanel.setState({ view: isBin ? 'suggestions' : 'bin' })}
        >
          <Icon name={isBin ? 'cross' : 'archive'} size={14} /> {isBin ? 'Close bin' : 'Bin'}
        </button>
        {!isBin && <NewConversation />}
        <ReviewSettings />
        <Rules />
        <button
          type="button"
          className="icon-button close-sheet"
          aria-label="Close suggestions"
          onClick={() => usePanel.setState({ open: false })}
        >
          <Icon name="cross" />
        </button>
      </div>
      <OrphanedDrafts />
      <div className="panel-body" tabIndex={-1}>
        {isBin ? (
          <Bin />
        ) : (
          <>
            <BatchDecision />
            <Conversation />
          </>
        )}
      </div>
      <Composer />
      <Suspense fallback={null}>{comparing && <CompareDialog of={comparing} />}</Suspense>
    </aside>
  )
}

/** Enabled while there is something to forget, and no run at work on it. */
function NewConversation() {
  const can = useCapability('conversations')
  const me = useSession((session) => session.me?.sessionId)
  const online = useSession((session) => session.link === 'online')
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const said = useChat((chat) => remembers(chat, me))
  if (!can || !mayAsk) return null
  return (
    <button
      type="button"
      className="button is-quiet"
      aria-label="New conversation"
      title="New conversation: the AI forgets what was said so far; the record stays"
      disabled={!online || !said}
      onClick={() => void clearConversation()}
    >
      <Icon name="plus" size={14} />
    </button>
  )
}
