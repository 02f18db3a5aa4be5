import { expect, it } from 'vitest'
import { modelLabel, money, short, usageLine, usageText } from './usage.ts'

it('names a model without its provider unless that is needed', () => {
  const all = ['openai', 'openai:qwen3:8b', 'anthropic:claude-x', 'openai:claude-x', 'harper']
  expect(all.map((name) => modelLabel(name, all))).toEqual([
    'Local model',
    'qwen3:8b',
    'anthropic:claude-x',
    'openai:claude-x',
    'Harper (offline)',
  ])
  expect(modelLabel('script:demo.json', [])).toBe('Scripted')
  expect(['claude-cli', 'claude-cli:opus'].map((name) => modelLabel(name, []))).toEqual([
    'Claude CLI',
    'Claude CLI (opus)',
  ])
})

it('keeps counts short', () => {
  expect([0, 999, 1_000, 12_449, 99_949, 99_950, 999_499, 999_500, 2_340_000].map(short)).toEqual([
    '0',
    '999',
    '1.0k',
    '12.4k',
    '99.9k',
    '100k',
    '999k',
    '1.0M',
    '2.3M',
  ])
})

it('never rounds a cost to nothing', () => {
  expect([0, 0.0004, 0.0123, 0.9, 12.345].map(money)).toEqual([
    '$0',
    'under $0.001',
    '$0.012',
    '$0.900',
    '$12.35',
  ])
})

it('says what a run used, and the cost only if it is known', () => {
  const spent = { model: 'claude-x', input: 12_400, cached: 9_000, output: 63, dollars: 0.0123 }
  expect(usageLine(spent)).toBe('claude-x · 12.4k in · 63 out · $0.012')
  expect(usageLine({ ...spent, dollars: null })).toBe('claude-x · 12.4k in · 63 out')
  expect(usageText(spent)).toBe(
    '12,400 tokens sent, 9,000 of them cached; 63 tokens received. By list prices that is $0.012.',
  )
  expect(usageText({ ...spent, output: 1, dollars: null })).toContain(
    '1 token received. The price of this model is not known.',
  )
})
