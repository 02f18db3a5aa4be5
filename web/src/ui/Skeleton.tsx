/** Lines where a text will stand. */
import './Skeleton.css'

export function Skeleton() {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {[90, 96, 84, 92, 60].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}
