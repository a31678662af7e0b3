/** The exports of the control plane for other workspaces. A cluster for tests is in `quorumscan/testing`. */

export type { AppRouter } from './control/router.ts'
