/** The two pages of the panel: what is suggested, and what is said about the text. */
import { usePanel } from '../../review/stores/panel.ts'
import { unreadCount } from '../state/threads.ts'
import { useComments } from '../stores/threads.ts'
import './PanelTabs.css'

export function PanelTabs() {
  const view = usePanel((panel) => panel.view)
  const unread = useComments((state) => unreadCount(state.threads, state.unread))
  const tab = (name: 'suggestions' | 'comments', words: string) => (
    <h2>
      <button
        type="button"
        className="panel-tab"
        aria-pressed={view === name}
        onClick={() => usePanel.setState({ view: name })}
      >
        {words}
        {name === 'comments' && unread > 0 && (
          <>
            {' '}
            <b className="inbox-count">{unread}</b>
            <span className="hidden-label"> unread</span>
          </>
        )}
      </button>
    </h2>
  )
  return (
    <div className="panel-tabs">
      {tab('suggestions', 'Suggestions')}
      {tab('comments', 'Comments')}
    </div>
  )
}
