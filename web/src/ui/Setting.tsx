/** A choice in a dialog of settings: a box or a radio button, its name, and what it means. */
import './Setting.css'

interface Props {
  name: string
  what?: string
  checked: boolean
  onChange: (checked: boolean) => void
  /** The group of a radio button. */
  group?: string
  disabled?: boolean
}

export function Setting({ name, what, checked, onChange, group, disabled }: Props) {
  return (
    <label className="setting">
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <b>{name}</b>
        {what !== undefined && <span>{what}</span>}
      </span>
    </label>
  )
}
