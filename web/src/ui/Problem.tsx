/** Says what went wrong, for as long as it is so. */
export function Problem({ words }: { words: string | null | undefined }) {
  if (!words) return null
  return (
    <p className="warn-note" role="alert">
      {words}
    </p>
  )
}
