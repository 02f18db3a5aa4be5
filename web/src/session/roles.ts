/** Rights of the roles that a person can have. Pure. */
import type { Role } from '../wire/generated.ts'

export const canWrite = (role: Role): boolean => role === 'owner' || role === 'editor'

export const canDecide = (role: Role): boolean => canWrite(role) || role === 'reviewer'

/** Returns whether a role may comment, and suggest changes. */
export const canComment = (role: Role): boolean => role !== 'viewer' && role !== 'guest'
