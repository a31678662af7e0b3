/** Health, status and version, the same on every process. */
import type { healthRoutes } from '@quorumscan/api'
import { broken, type CasesOf } from './case.ts'

const { LOG_FORK: _, ...unready } = broken

export const healthCases = {
  livez: { success: () => ({}), errors: {} },
  readyz: { success: () => ({}), errors: unready },
  getStatus: { success: () => ({}), errors: {} },
  getVersion: { success: () => ({}), errors: {} },
} satisfies CasesOf<typeof healthRoutes>
