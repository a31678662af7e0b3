/** Test environments such as jsdom lack parts of platforms. An import needs none; only what is called does. */
import { AsyncLocalStorage } from 'node:async_hooks'
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

/** In an import. Readers of other files, which share this process, may have timers, and their platform is whole. */
const importing = new AsyncLocalStorage<true>()
const whole = new Map(
  LACKING.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
)

beforeEach(() => {
  vi.resetModules()
  for (const name of LACKING) {
    const value: unknown = Reflect.get(globalThis, name)
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => (importing.getStore() ? undefined : value),
    })
  }
})
afterEach(() => {
  for (const [name, descriptor] of whole)
    if (descriptor) Object.defineProperty(globalThis, name, descriptor)
})

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
  const exported: object = await importing.run(true, (): Promise<object> => load())
  expect(Object.keys(exported).length).toBeGreaterThan(0)
})
