/** Test environments such as jsdom lack parts of platforms. An import needs none; only what is called does. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const LACKING = [
  'TextEncoder',
  'TextDecoder',
  'fetch',
  'crypto',
  'ReadableStream',
  'Response',
  'Headers',
  'BroadcastChannel',
  'structuredClone',
  'performance',
]

beforeEach(() => {
  vi.resetModules()
  for (const name of LACKING) vi.stubGlobal(name, undefined)
})
afterEach(() => vi.unstubAllGlobals())

it.each([
  ['.', () => import('./index.ts')],
  ['what the first lookup loads', () => import('./names/lookups.ts')],
  ['what other lookups load', () => import('./names/other-lookups.ts')],
  ['what lookups of many names load', () => import('./names/many-lookups.ts')],
  ['what lists load', () => import('./scan-lists.ts')],
  ['what failures load', () => import('./scan-extras.ts')],
  ['what a write floor loads', () => import('./names/write-floor.ts')],
  ['what a refusal loads', () => import('./http/http-failures.ts')],
  ['what a validator loads', () => import('./validator-parts.ts')],
  ['what payments load', () => import('./validator-payments.ts')],
  ['what the ledger loads', () => import('./validator-ledger.ts')],
  ['/react', () => import('./react.ts')],
  ['/naming', () => import('./naming/index.ts')],
  ['what a resolver over HTTP loads', () => import('./naming/http-reads.ts')],
  ['what display names load', () => import('./naming/shown-name.ts')],
  ['/splice', () => import('./splice/index.ts')],
  ['/receipts', () => import('./receipts.ts')],
  ['/testing/fakes', () => import('./fakes.ts')],
  ['/raw', () => import('./raw.ts')],
])('%s is imported where the platform has neither coders nor fetch nor crypto', async (_, load) => {
  expect(Object.keys(await load()).length).toBeGreaterThan(0)
})
