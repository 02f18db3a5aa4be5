/** Comparison of a text with the hash that the server names. */

/**
 * Returns whether the SHA-256 of a text is this one. Browsers compute none on a page that came over
 * plain HTTP from another machine: there nothing is compared.
 */
export async function hasHash(text: string, hash: string): Promise<boolean> {
  const subtle = crypto.subtle as SubtleCrypto | undefined
  if (!subtle) return true
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
  return hex.join('') === hash
}
