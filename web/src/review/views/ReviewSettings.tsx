/** Settings of the review of this document, and its frozen passages. */
import { Button } from '../../ui/Button.tsx'
import { useState } from 'react'
import { useOpenDocumentFields } from '../../document/useOpenDocument.ts'
import { Policies } from '../../rules/Policies.tsx'
import { ServerSettings } from '../../rules/ServerSettings.tsx'
import { useSession } from '../../session/store.ts'
import { Choice } from '../../ui/Choice.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Setting } from '../../ui/Setting.tsx'
import { ModelSettings } from './ModelSettings.tsx'
import { configure, POLICIES, timeLimits } from '../actions/settings.ts'
import { Passages } from './FrozenPassages.tsx'
import { hasRemarks, setRemarks } from '../stores/remarks.ts'
import './ReviewSettings.css'

export function ReviewSettings() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        look="quiet"
        aria-label="Review settings"
        title="Review settings: who decides, time limit, frozen passages"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Icon name="sliders" size={14} /> Settings
      </Button>
      {open && (
        <Dialog title="Review settings" onClose={() => setOpen(false)}>
          <Settings onJump={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

function Settings({ onJump }: { onJump: () => void }) {
  const { settings, role } = useOpenDocumentFields('settings', 'role')
  const online = useSession((session) => session.link === 'online')
  const [refusal, setRefusal] = useState<string | null>(null)
  if (!settings) return <p>The settings are not known yet.</p>
  const fixed = role !== 'owner' || !online
  return (
    <div className="review-settings">
      {role !== 'owner' && <p className="card-note">An owner of the server changes these.</p>}
      <fieldset disabled={fixed}>
        <legend>Who decides</legend>
        {POLICIES.map(({ policy, name, what }) => (
          <Setting
            key={policy}
            group="policy"
            name={name}
            what={what}
            checked={settings.policy === policy}
            onChange={() => void configure({ policy }).then(setRefusal)}
          />
        ))}
        <Problem words={refusal} />
      </fieldset>
      <fieldset disabled={fixed}>
        <legend>Before a change lands</legend>
        <Setting
          name="Require approval"
          what="If off, AI edits apply at once. They are logged, shown, and can be undone."
          checked={settings.approvals === 'on'}
          onChange={(on) => void configure({ approvals: on ? 'on' : 'off' })}
        />
        <label className="setting-row">
          <span>Time to decide</span>
          <Choice
            value={settings.timeoutSeconds}
            options={timeLimits(settings.timeoutSeconds)}
            onChoose={(timeoutSeconds) => void configure({ timeoutSeconds })}
          />
        </label>
      </fieldset>
      <ModelSettings access={settings.modelAccess} fixed={fixed} />
      <Policies policies={settings.policies} fixed={fixed} />
      <Passages fixed={fixed} mayFreeze={role === 'owner'} onJump={onJump} />
      <Remarks />
      <ServerSettings />
    </div>
  )
}

/** One's own choice, in this browser. */
function Remarks() {
  const [on, setOn] = useState(hasRemarks)
  return (
    <fieldset>
      <legend>For you, in this browser</legend>
      <Setting
        name="Remark on fast accepting"
        what="When you accept ten changes in ten seconds, and some of them change the meaning."
        checked={on}
        onChange={(wanted) => {
          setRemarks(wanted)
          setOn(wanted)
        }}
      />
    </fieldset>
  )
}
