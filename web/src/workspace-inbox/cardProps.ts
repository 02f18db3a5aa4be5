/** The props of all parts of a card. */
import type { ToolApprovalRequest } from '../wire/generated.ts'

export interface CardProps {
  request: ToolApprovalRequest
  /** A name that distinguishes the card from the others. */
  scope: string
}
