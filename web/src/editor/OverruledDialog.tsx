/** Shows the words of the file where people had changed the same words. */
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import type { FileConflict } from '../wire/generated.ts'

interface Props {
  overruled: readonly FileConflict[]
  onClose: () => void
}

export function OverruledDialog({ overruled, onClose }: Props) {
  return (
    <Dialog title="What stood in the file" onClose={onClose}>
      {overruled.map(({ disk, kept }, index) => (
        <div key={`${index}${disk}`}>
          <p>In the file:</p>
          <blockquote className="recovered-text" dir="auto">
            {disk || '(nothing: it was removed there)'}
          </blockquote>
          <p>Here, and in the file now:</p>
          <blockquote className="recovered-text" dir="auto">
            {kept || '(nothing: it was removed here)'}
          </blockquote>
          <div className="dialog-foot" style={{ margin: '0 0 18px' }}>
            <Button onClick={() => void navigator.clipboard.writeText(disk)}>
              Copy the file’s words
            </Button>
          </div>
        </div>
      ))}
    </Dialog>
  )
}
