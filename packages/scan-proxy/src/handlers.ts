/**
 * The routes of the scan proxy (D-34 to D-43, D-51). They need no token, and voted reads not the validator's own
 * replica, which only helps to notice forks.
 */
import type { validatorRoutes } from '@quorumscan/api'
import type { Handlers } from '@quorumscan/server'
import { canonicalJson, type Json, utf8 } from '@quorumscan/verifier'
import type { ScanProxyDeps } from './dependencies.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { createPipeline } from './pipeline.ts'

/** Of reads, and of what the validator itself keeps. The routes are public: no handler of them sees a user. */
type ProxyHandlers = Pick<
  Handlers<typeof validatorRoutes, unknown>,
  keyof typeof OPERATIONS | 'proxyGetGenesis' | 'proxyListEvidence'
>

export function scanProxyHandlers(deps: ScanProxyDeps): ProxyHandlers {
  // A Genesis is JSON by construction; its type only lacks the index signature.
  const genesis = utf8(canonicalJson(deps.genesis as unknown as Json))
  const handlerOf = createPipeline(deps)
  const reads = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    handlerOf(operation as Operation<never>),
  ])
  return {
    // Object.entries loses the keys that the type of the table states.
    ...(Object.fromEntries(reads) as unknown as Pick<ProxyHandlers, keyof typeof OPERATIONS>),
    proxyGetGenesis: async () => ({ headers: {}, body: genesis }),
    proxyListEvidence: async () => ({
      headers: {},
      body: utf8(JSON.stringify({ evidence: deps.evidence.list() })),
    }),
  }
}
