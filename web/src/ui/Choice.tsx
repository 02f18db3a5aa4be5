/** Select that chooses one of several values. */
import type { ComponentProps } from 'react'

interface Props<Value> extends Omit<ComponentProps<'select'>, 'value' | 'onChange'> {
  value: Value
  /** Values with their names, in the order of the list. */
  options: readonly (readonly [Value, string])[]
  onChoose: (value: Value) => void
  /** Name for screen readers, where no label stands around the select. */
  label?: string
}

export function Choice<Value extends string | number>({
  value,
  options,
  onChoose,
  label,
  ...props
}: Props<Value>) {
  return (
    <select
      className="field"
      aria-label={label}
      {...props}
      value={value}
      onChange={(event) => {
        const chosen = options[event.currentTarget.selectedIndex]
        if (chosen) onChoose(chosen[0])
      }}
    >
      {options.map(([option, name]) => (
        <option key={option} value={option}>
          {name}
        </option>
      ))}
    </select>
  )
}
