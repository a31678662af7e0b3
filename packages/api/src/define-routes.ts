/** Tables of routes. */
import type { LedgerRouteDef } from './ledger-route-def.ts'
import type { RouteDef } from './route-def.ts'

type Undeclared = Omit<RouteDef, 'operationId'> | Omit<LedgerRouteDef, 'operationId'>

/** Names each route by its key, which is its operationId. */
export function defineRoutes<const Routes extends { readonly [operationId: string]: Undeclared }>(
  routes: Routes,
): { readonly [Id in keyof Routes & string]: Routes[Id] & { readonly operationId: Id } } {
  const named = Object.entries(routes).map(([operationId, route]) => [
    operationId,
    { ...route, operationId },
  ])
  // Object.entries loses the keys that the return type states.
  return Object.fromEntries(named) as never
}
