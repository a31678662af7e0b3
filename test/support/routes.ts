/**
 * A case for each operation of the network, HTTP and WebSocket. A route without a case does not compile. For each error
 * that a route declares, its case must have a request, or the reason why no request causes the error.
 */
import { ledgerRoutes, scanRoutes, synchronizerRoutes, validatorRoutes } from '@quorumscan/api'
import type { Case } from './routes/case.ts'
import { ledgerCases } from './routes/ledger.ts'
import { scanCases } from './routes/scan.ts'
import type { AnyRoute, Surface } from './routes/send-case.ts'
import { socketCases } from './routes/sockets.ts'
import { synchronizerCases } from './routes/synchronizer.ts'
import { validatorCases } from './routes/wallet.ts'

/** Operations of each surface. All processes have the health operations. */
type Operations = {
  readonly scan: keyof typeof scanRoutes
  readonly validator: keyof typeof validatorRoutes
  readonly synchronizer: keyof typeof synchronizerRoutes
  readonly ledger: keyof typeof ledgerRoutes
}

const cases = {
  scan: scanCases,
  validator: validatorCases,
  synchronizer: synchronizerCases,
  ledger: ledgerCases,
} satisfies { readonly [On in Surface]: Record<Operations[On], Case<never>> }

const tables = {
  scan: scanRoutes,
  validator: validatorRoutes,
  synchronizer: synchronizerRoutes,
  ledger: ledgerRoutes,
} satisfies { readonly [On in Surface]: Readonly<Record<Operations[On], AnyRoute>> }

export type RouteCase = {
  readonly surface: Surface
  readonly route: AnyRoute
  readonly of: Case<string | number>
}

/** All cases with their routes. */
export const routeCases: readonly RouteCase[] = Object.entries(tables).flatMap(([on, table]) => {
  const surface = on as Surface
  const ofSurface: Readonly<Record<string, Case<never>>> = cases[surface]
  return Object.values<AnyRoute>(table).map((route) => ({
    surface,
    route,
    of: ofSurface[route.operationId] as Case<string | number>,
  }))
})

export { socketCases }
