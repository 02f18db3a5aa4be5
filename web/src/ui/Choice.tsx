/** Select that chooses one of several values. */
export function Choice<Value extends string | number>({
  value,
  options,
  onChoose,
  label,
  disabled,
}: {
  value: Value
  /** Values with their names, in the order of the list. */
  options: readonly (readonly [Value, string])[]
  onChoose: (value: Value) => void
  /** Name for screen readers, where no label stands around the select. */
  label?: string
  disabled?: boolean
}) {
  return (
    <select
      className="field"
      aria-label={label}
      value={value}
      disabled={disabled}
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
