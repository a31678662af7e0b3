/** Routes that accept a body from any client: one of each process and interface. */
import type { Target } from './attack.ts'

export type PostRoute = {
  readonly name: string
  readonly url: string
  readonly path: string
  readonly bodyBytesMax: number
}

export function postRoutes({ cluster }: Target): readonly PostRoute[] {
  const { validator, synchronizer, nodes } = cluster.urls
  const node = nodes['sv-1'] ?? ''
  const mib = 1024 * 1024
  return [
    { name: 'node', url: node, path: '/v0/ans-entries/batch', bodyBytesMax: mib },
    { name: 'proxy', url: validator, path: '/v0/scan-proxy/ans-entries/batch', bodyBytesMax: mib },
    { name: 'ledger', url: validator, path: '/v2/commands/async/submit', bodyBytesMax: 8 * mib },
    { name: 'synchronizer', url: synchronizer, path: '/v0/submit', bodyBytesMax: mib / 4 },
  ]
}
