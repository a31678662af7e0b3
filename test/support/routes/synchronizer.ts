/** Cases of the synchronizer. */
import type { synchronizerRoutes } from '@quorumscan/api'
import { broken, type CasesOf, cannot } from './case.ts'
import { healthCases } from './health.ts'
import { engineCase } from './scan.ts'

const { NOT_READY, DEPENDENCY_UNAVAILABLE, LOG_FULL, CLOCK_OFF, LOG_REGRESSED, ORDERING_HALTED } =
  broken

export const synchronizerCases = {
  ...healthCases,
  submitEntry: {
    success: ({ entry }) => ({ body: entry() }),
    errors: {
      NOT_READY,
      DEPENDENCY_UNAVAILABLE,
      LOG_FULL,
      CLOCK_OFF,
      LOG_REGRESSED,
      ORDERING_HALTED,
      LIMIT_EXCEEDED: cannot(
        'a signer with too many entries in flight',
        'apps/synchronizer/src/synchronizer.integration.test.ts',
      ),
      SUBMISSION_EXPIRED: ({ expiredEntry }) => ({ body: expiredEntry() }),
    },
    added: { INVALID_ARGUMENT: () => ({ body: Uint8Array.of(1, 2, 3) }) },
  },
  listOrderingEvidence: { success: () => ({}), errors: {} },
  readEngine: engineCase,
  followLog: {
    success: () => ({ query: { from: 1 } }),
    errors: {
      NOT_READY,
      DEPENDENCY_UNAVAILABLE,
      OFFSET_PRUNED: cannot('a trimmed log', 'packages/log/src/feed.integration.test.ts'),
    },
  },
} satisfies CasesOf<typeof synchronizerRoutes>
