/** Health, status and version, the same on every process. */
import { defineRoutes, route } from '../route-def.ts'
import { StatusAnswer, VersionAnswer } from '../schemas/network.ts'

const common = { tag: 'health', errors: [], auth: 'none', cost: 0 } as const

export const healthRoutes = defineRoutes({
  livez: route('GET /livez', common, {
    summary: 'The HTTP server is up.',
    description:
      'The header `x-clock` is the wall clock of the process, in µs since the epoch; `x-state` is the state of `/status`; `x-memory` is how much of the memory of its Redis is used, in thousandths.',
    response: null,
  }),
  readyz: route('GET /readyz', common, {
    summary: 'The process does its work; otherwise 503 with the reason.',
    description:
      'The header `x-clock-offset-ms` is how far its clock is ahead of its peers, if enough answer. `x-detail` names a problem that does not make the process unready.',
    response: null,
    errors: [
      'NOT_READY',
      'LOG_REGRESSED',
      'SOFTWARE_OUTDATED',
      'ORDERING_HALTED',
      'STATE_DIVERGED',
      'LOG_FORK',
      'LOG_FULL',
      'CLOCK_OFF',
      'CERTIFICATE_EXPIRED',
      'USERS_LOST',
      'DEPENDENCY_UNAVAILABLE',
    ],
  }),
  getStatus: route('GET /status', common, {
    summary: 'The state of the process.',
    response: StatusAnswer,
  }),
  getVersion: route('GET /version', common, {
    summary: 'The version of the software.',
    response: VersionAnswer,
  }),
})
