/**
 * The effects of a call, as the server worked them out: a diff, several, a command, or the plain
 * input.
 */
import { Markdown } from '../ui/Markdown.tsx'
import { plural } from '../ui/timeFormat.ts'
import type { ToolApprovalRequest } from '../wire/generated.ts'
import { diffLines, showInvisible } from '../ui/visibleText.ts'
import { isPlan, planOf } from '../review/views/cards/PlanOutcome.tsx'
import './CallPreview.css'

interface Step {
  diff_lines: string[]
  /** Missing in requests of older servers. */ replace_all?: boolean
  occurrences?: number
}

export function CallPreview({ request }: { request: ToolApprovalRequest }) {
  switch (request.preview_type) {
    case 'diff':
      return <Diff lines={request.diff_lines} />
    case 'multi_diff':
      return <Steps request={request} />
    case 'command':
      return <Command request={request} />
    default:
      if (isPlan(request)) return <Markdown text={planOf(request)} />
      return (
        <pre className="inbox-input">
          {showInvisible(JSON.stringify(request.tool_input, null, 2))}
        </pre>
      )
  }
}

export function Diff({ lines, name = 'Difference' }: { lines: readonly string[]; name?: string }) {
  if (lines.length === 0) return <p className="inbox-none">No line would read differently.</p>
  return (
    <pre className="inbox-diff" tabIndex={0} aria-label={name}>
      {diffLines(lines).map(({ kind, text }, index) => (
        <span key={index} className={`is-${kind}`}>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

function Steps({ request }: { request: ToolApprovalRequest }) {
  const { edits = [] } = request.preview_data as { edits?: Step[] }
  return (
    <>
      <Diff lines={request.diff_lines} />
      <details className="inbox-steps">
        <summary>{plural(edits.length, 'edit')}, one by one</summary>
        <ol>
          {edits.map((step, index) => (
            <li key={index}>
              {step.replace_all === true && (
                <p>
                  Everywhere
                  {step.occurrences === undefined
                    ? ''
                    : `: ${plural(step.occurrences, 'occurrence')}`}
                </p>
              )}
              <Diff lines={step.diff_lines} />
            </li>
          ))}
        </ol>
      </details>
    </>
  )
}

/** The whole command, however long: what is approved is what stands here. */
function Command({ request }: { request: ToolApprovalRequest }) {
  const { command = '' } = request.preview_data as { command?: string }
  return (
    <pre className="inbox-command" tabIndex={0} aria-label="Command">
      {showInvisible(command)}
    </pre>
  )
}
