/** The certificates that a process reads in addition to its own of `QS_TLS_CERT`. */
import type { ClientTlsFiles, NamedFile } from '@quorumscan/base'
import type { RedisConfig } from '@quorumscan/redis'
import type { ConnectionsConfig } from './connections-config.ts'

/** Those that it shows as a client, and those of the authorities that it trusts, each with its variable. */
export function certificateFilesOf(config: {
  readonly connections: ConnectionsConfig
  readonly log?: { readonly certificate: ClientTlsFiles['own'] }
  readonly redis?: RedisConfig
  readonly ordering?: { readonly redis: RedisConfig }
}): readonly NamedFile[] {
  const { connections, log, redis = config.ordering?.redis } = config
  const { peerCa, tls } = connections
  const clientCa = tls?.clientCaFile ?? null
  return [
    peerCa,
    clientCa === null ? null : { variable: 'QS_TLS_CLIENT_CA', file: clientCa },
    log?.certificate?.cert,
    redis?.tls?.ca,
    redis?.tls?.own?.cert,
  ].filter((file) => file != null)
}
