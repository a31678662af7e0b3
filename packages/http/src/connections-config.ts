/** What a process is told of how others connect to it, and it to them. */
import type { EnvReader } from '@quorumscan/base'
import type { CertificateFiles } from './certificate.ts'

export type ConnectionsConfig = {
  /** Null: it speaks plain HTTP. */
  readonly tls: CertificateFiles | null
  /** Certificates of whoever may vouch for nodes and synchronizer, beside those that every Node trusts. */
  readonly peerCaFile: string | null
}

/** Of one machine. */
export const PLAIN_CONNECTIONS: ConnectionsConfig = { tls: null, peerCaFile: null }

export function readConnections(variables: EnvReader): ConnectionsConfig {
  return {
    tls: readTls(variables),
    peerCaFile: variables.optional('QS_PEER_CA', {
      about:
        'certificates (PEM) that vouch for nodes and synchronizer, beside those that every Node trusts',
      example: '/etc/quorumscan/ca.pem',
    }),
  }
}

function readTls(variables: EnvReader): CertificateFiles | null {
  const certFile = variables.optional('QS_TLS_CERT', {
    about: 'its certificate and those up to a root (PEM), to speak TLS; looked at again every 10 s',
    example: '/etc/quorumscan/tls/fullchain.pem',
  })
  const keyFile = variables.optional('QS_TLS_KEY', {
    about: 'the key of that certificate (PEM)',
    example: '/etc/quorumscan/tls/privkey.pem',
  })
  if (certFile !== null && keyFile !== null) return { certFile, keyFile }
  if (certFile !== keyFile) variables.problem('QS_TLS_CERT and QS_TLS_KEY go together')
  return null
}
