/** A quiet remark: changes of meaning were accepted fast, and can be looked at again. */
import { Button, IconButton } from '../../ui/Button.tsx'
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
          <Button
            look="link"
            aria-haspopup="dialog"
            onClick={() => usePanel.setState({ again: hurried, remark: null })}
          >
            {hurried.length === 1 ? 'Look at it again' : `Look at these ${hurried.length} again`}
          </Button>
          <Button look="link" onClick={() => setRemarks(false)}>
            Do not remark this again
          </Button>
          <IconButton
            label="Close the remark"
            name="cross"
            size={12}
            onClick={() => usePanel.setState({ remark: null })}
          />
        </div>
      )}
    </div>
  )
}
