/** Where a read waits for nodes: other requests of its network begin meanwhile, and only then. */
import type { Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import type { ScanProxyDeps } from './dependencies.ts'
import { partyNameHandlers, scanProxyHandlers } from './pipeline.ts'

// Only the number of nodes matters here.
const genesis = { nodes: [1, 2, 3, 4] } as unknown as Genesis
const genesisHash = 'a'.repeat(64)
const NAME = 'alice.unverified.ns'

/** A proxy whose nodes have no answer, and when they are asked: while its request waits for nodes, or not. */
function createProxy() {
  const asked: boolean[] = []
  let isWaiting = false
  const part = { threshold: 2, nodeCount: 4, trust: null, answered: 0, agreed: [], dissented: [] }
  const none = { ...part, kind: 'insufficient', reachable: 0, needed: 2, unproven: null }
  const outcome = { ...none, retryAfterMs: null, clockSkewMs: null }
  const read = async () => {
    asked.push(isWaiting)
    return outcome
  }
  const reader = { read, lookup: async () => [await read()] }
  const deps = {
    genesis,
    genesisHash,
    networkName: 'localnet',
    // Its own certificates have too few signers of the rule, so that a node is asked.
    trustRule: { members: ['sv-1'], threshold: 1 },
    ledger: { proofs: {}, state: () => 'live' },
    certifier: {},
    reader,
    certifiedReader: reader,
    readFloor: { offset: () => 0, raise() {} },
  } as unknown as ScanProxyDeps
  const requestWith = (headers: object) => ({
    url: '/',
    headers,
    query: { name: NAME, network: 'localnet' },
    params: { name: NAME },
    forward: {},
    signal: new AbortController().signal,
    waiting: <T>(wait: () => Promise<T>) => wait(),
    async waitingForNodes<T>(wait: () => Promise<T>): Promise<T> {
      isWaiting = true
      try {
        return await wait()
      } finally {
        isWaiting = false
      }
    },
  })
  return { asked, deps, requestWith, isWaiting: () => isWaiting }
}

type AnyHandler = (request: object) => Promise<unknown>

it.each<[string, object, (deps: ScanProxyDeps) => unknown]>([
  ['a voted read', {}, (deps) => scanProxyHandlers(deps).proxyGetEntryByName],
  [
    'a certified read',
    { 'x-quorum': 'certified' },
    (deps) => scanProxyHandlers(deps).proxyGetEntryByName,
  ],
  ['a party name', {}, (deps) => partyNameHandlers(deps, deps.certifiedReader).proxyResolve],
])('%s waits for nodes, and no longer than they are asked', async (_, headers, handlerOf) => {
  const { asked, deps, requestWith, isWaiting } = createProxy()
  await (handlerOf(deps) as AnyHandler)(requestWith(headers))
  expect(asked).toEqual([true])
  expect(isWaiting()).toBe(false)
})
