/** Health, status and version, the same on every process. */
import type { healthRoutes } from '@quorumscan/api'
import { broken, type CasesOf } from './case.ts'

export const healthCases = {
  livez: { success: () => ({}), errors: {} },
  readyz: { success: () => ({}), errors: broken },
  getStatus: { success: () => ({}), errors: {} },
  getVersion: { success: () => ({}), errors: {} },
} satisfies CasesOf<typeof healthRoutes>
