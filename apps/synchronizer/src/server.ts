/** Binds the synchronizer's routes to what answers them. */
import { synchronizerRoutes } from '@quorumscan/api'
import { buildServer, readBuildInfo, type Tracer } from '@quorumscan/http'

import type { Context } from './context.ts'
import { createHealthHandlers } from './health.ts'

export function createServer(
  context: Context,
  /** The port listened on. */
  port: () => number,
  tracer: Tracer | null,
): ReturnType<typeof buildServer> {
  const { admission, clock, logger, writer } = context
  return buildServer({
    routes: synchronizerRoutes,
    handlers: {
      ...createHealthHandlers({
        writer,
        build: readBuildInfo(import.meta.url),
        clock,
        port,
      }),
      submitEntry: async ({ body }) => {
        // A request of no bytes has no body at all.
        await admission.submit(body ?? new Uint8Array())
        return { body: { accepted: true as const } }
      },
    },
    prefix: null,
    rateLimit: { unitsPerSecond: context.config.rateLimit },
    logger,
    metrics: context.metrics,
    tracer,
    clock,
  })
}
