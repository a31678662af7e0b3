/** The embedded synchronizer: the ordering port over HTTP, for validators and scan nodes. */
import { Type } from 'typebox'
import { defineRoutes } from '../route-def.ts'
import { healthRoutes } from './health.ts'

/** Rule 1: the largest log entry. */
const SUBMISSION_BYTES_MAX = 256 * 1024

export const synchronizerRoutes = {
  ...healthRoutes,
  ...defineRoutes({
    submitEntry: {
      tag: 'ordering',
      method: 'POST',
      path: '/v0/submit',
      summary: 'Offers an entry to the log; the answer comes when it is durable.',
      body: 'bytes',
      bodyBytesMax: SUBMISSION_BYTES_MAX,
      response: Type.Object({
        accepted: Type.Literal(true, { description: 'It is in the log.' }),
      }),
      errors: [
        'LIMIT_EXCEEDED',
        'DEPENDENCY_UNAVAILABLE',
        'NOT_READY',
        'LOG_FULL',
        'CLOCK_OFF',
        'LOG_REGRESSED',
        'SUBMISSION_EXPIRED',
      ],
      auth: 'none',
      cost: 1,
    },
  }),
} as const
