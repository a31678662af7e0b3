/** What other workspaces know of the control plane; a cluster for tests is in `quorumscan/testing`. */
export { ClusterError } from './cluster-error.ts'
export type { AppRouter } from './control/router.ts'
