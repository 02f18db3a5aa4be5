/** A quiet remark: changes of meaning were accepted fast, and can be looked at again. */
import { Icon } from '../../ui/icons.tsx'
import { remarkWords } from '../state/streak.ts'
import { usePanel } from '../stores/panel.ts'
import { setRemarks } from '../stores/remarks.ts'

export function StreakRemark() {
  const hurried = usePanel((panel) => panel.remark)
  return (
    <div role="status">
      {hurried && (
        <div className="review-note streak">
          <span>{remarkWords(hurried)}</span>
          <button
            type="button"
            className="link"
            aria-haspopup="dialog"
            onClick={() => usePanel.setState({ again: hurried, remark: null })}
          >
            {hurried.length === 1 ? 'Look at it again' : `Look at these ${hurried.length} again`}
          </button>
          <button type="button" className="link" onClick={() => setRemarks(false)}>
            Do not remark this again
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label="Close the remark"
            onClick={() => usePanel.setState({ remark: null })}
          >
            <Icon name="cross" size={12} />
          </button>
        </div>
      )}
    </div>
  )
}
