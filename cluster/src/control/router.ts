/** What the control plane can be asked, as a tRPC router. The CLI, tests and the console call it. */
import { chaosRouter } from './routers/chaos.ts'
import { clusterRouter } from './routers/cluster.ts'
import { faultsRouter } from './routers/faults.ts'
import { jobsRouter } from './routers/jobs.ts'
import { lookupsRouter } from './routers/lookups.ts'
import { namesRouter } from './routers/names.ts'
import { nodesRouter } from './routers/nodes.ts'
import { registrationsRouter } from './routers/registrations.ts'
import { router } from './trpc.ts'

export const appRouter = router({
  cluster: clusterRouter,
  nodes: nodesRouter,
  faults: faultsRouter,
  names: namesRouter,
  lookups: lookupsRouter,
  jobs: jobsRouter,
  chaos: chaosRouter,
  registrations: registrationsRouter,
})

/** The only way into the control plane; its clients take their types from here. */
export type AppRouter = typeof appRouter
