/** Models, and what they used, in words. Pure. */
import type { Spent } from './store.ts'

/**
 * People call `anthropic:claude-x` Claude X: the name without its provider, unless two serve the
 * same.
 */
export function modelLabel(name: string, all: readonly string[]): string {
  if (name === 'harper') return 'Harper (offline)'
  if (name === 'openai') return 'Local model'
  if (name === 'claude-cli') return 'Claude CLI'
  if (name.startsWith('claude-cli:')) return `Claude CLI (${name.slice('claude-cli:'.length)})`
  if (name.startsWith('script:')) return 'Scripted'
  const bare = (full: string) => full.slice(full.indexOf(':') + 1)
  return all.some((other) => other !== name && bare(other) === bare(name)) ? name : bare(name)
}

/** `12.4k` */
export function short(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_500) return `${(count / 1_000).toFixed(count < 99_950 ? 1 : 0)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** `$0.012`, never a rounded zero. */
export function money(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars < 0.001) return 'under $0.001'
  return `$${dollars < 1 ? dollars.toFixed(3) : dollars.toFixed(2)}`
}

export function usageLine({ model, input, output, dollars }: Spent): string {
  return [
    model,
    `${short(input)} in`,
    `${short(output)} out`,
    ...(dollars === null ? [] : [money(dollars)]),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The same in full, for those who want to know. */
export function usageText({ input, cached, output, dollars }: Spent): string {
  const tokens = (count: number) =>
    `${count.toLocaleString('en')} ${count === 1 ? 'token' : 'tokens'}`
  const cost =
    dollars === null
      ? 'The price of this model is not known.'
      : `By list prices that is ${money(dollars)}.`
  return `${tokens(input)} sent, ${cached.toLocaleString('en')} of them cached; ${tokens(output)} received. ${cost}`
}
