/** What other workspaces know of the control plane; a cluster for tests is in `quorumscan/testing`. */

export type { AppRouter } from './control/router.ts'
