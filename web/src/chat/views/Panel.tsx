/** The side of the page where edits are asked for and reviewed; a bottom sheet on small screens. */
import { OnlineButton } from '../../session/OnlineButton.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { BatchDecision } from '../../review/views/BatchDecision.tsx'
import { Bin } from '../../review/views/Bin.tsx'
import { OrphanedDrafts } from '../../review/views/OrphanedDrafts.tsx'
import { ReviewSettings } from '../../review/views/ReviewSettings.tsx'
import { usePanel } from '../../review/stores/panel.ts'
import { UnreadButton } from '../../review/views/UnreadButton.tsx'
import { Rules } from '../../rules/Rules.tsx'
import { useSession } from '../../session/store.ts'
import { PanelTabs } from '../../comments/views/PanelTabs.tsx'
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
const CommentsPanel = lazyPart(() =>
  import('../../comments/views/CommentsPanel.tsx').then((all) => all.CommentsPanel),
)

const DecideTogether = lazyPart(() =>
  import('../../review/views/DecideTogether.tsx').then((all) => all.DecideTogether),
)
const LookAgainDialog = lazyPart(() =>
  import('../../review/views/LookAgainDialog.tsx').then((all) => all.LookAgainDialog),
)

export function Panel() {
  const id = useOpenDocument((state) => state.id)
  const open = usePanel((panel) => panel.open)
  const view = usePanel((panel) => panel.view)
  const comparing = usePanel((panel) => panel.comparing)
  const together = usePanel((panel) => panel.together)
  const again = usePanel((panel) => panel.again)
  useConversation(id)
  const isBin = view === 'bin'
  const isComments = view === 'comments'
  return (
    <aside
      className={`panel ${open ? 'is-open' : ''}`}
      aria-label={isComments ? 'Comments' : 'Suggestions'}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isBin) usePanel.setState({ view: 'suggestions' })
      }}
    >
      <div className="panel-head">
        {isBin ? <h2>Bin</h2> : <PanelTabs />}
        {!isComments && <SuggestionTools isBin={isBin} />}
        <IconButton
          className="close-sheet"
          label={isComments ? 'Close comments' : 'Close suggestions'}
          name="cross"
          onClick={() => usePanel.setState({ open: false })}
        />
      </div>
      {!isComments && <OrphanedDrafts />}
      <div className="panel-body" tabIndex={-1}>
        {isComments ? (
          <CommentsPanel />
        ) : isBin ? (
          <Bin />
        ) : (
          <>
            <BatchDecision />
            <Conversation />
          </>
        )}
      </div>
      {/* What was typed stays while comments are read. */}
      <div hidden={isComments}>
        <Composer />
      </div>
      {comparing && <CompareDialog of={comparing} />}
      {together && <DecideTogether of={together} />}
      {again && <LookAgainDialog of={again} />}
    </aside>
  )
}

function SuggestionTools({ isBin }: { isBin: boolean }) {
  return (
    <>
      <Button
        look="quiet"
        title={
          isBin ? 'Back to the suggestions (Esc)' : 'Rejected and expired changes are kept here'
        }
        onClick={() => usePanel.setState({ view: isBin ? 'suggestions' : 'bin' })}
      >
        <Icon name={isBin ? 'cross' : 'archive'} size={14} /> {isBin ? 'Close bin' : 'Bin'}
      </Button>
      {!isBin && <NewConversation />}
      <ReviewSettings />
      <Rules />
      {!isBin && <UnreadButton />}
    </>
  )
}

/** Enabled while there is something to forget, and no run at work on it. */
function NewConversation() {
  const me = useSession((session) => session.me?.sessionId)
  const mayAsk = useOpenDocument((state) => canWrite(state.role))
  const said = useChat((chat) => remembers(chat, me))
  if (!mayAsk) return null
  return (
    <OnlineButton
      look="quiet"
      aria-label="New conversation"
      title="New conversation: the AI forgets what was said so far; the record stays"
      disabled={!said}
      onClick={() => void clearConversation()}
    >
      <Icon name="plus" size={14} />
    </OnlineButton>
  )
}
