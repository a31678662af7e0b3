/** What a process is told of how others connect to it, and it to them. */
import {
  demandCertificate,
  demandKey,
  type EnvReader,
  type NamedFile,
  readNamedFile,
} from '@quorumscan/base'
import type { CertificateFiles } from '@quorumscan/runtime'
import { FORWARDED_HEADERS, type ProxiesConfig, parseProxies } from './proxies.ts'

export type ConnectionsConfig = {
  /** Null: it speaks plain HTTP. */
  readonly tls: CertificateFiles | null
  /** Certificates of whoever may vouch for nodes and synchronizer, beside those that every Node trusts. */
  readonly peerCa: NamedFile | null
  readonly proxies: ProxiesConfig
  /** Where operators ask how the process is, and what it measures; null: where everybody else asks. */
  readonly operator: { readonly host: string; readonly port: number } | null
}

/** Of one machine. */
export const PLAIN_CONNECTIONS: ConnectionsConfig = {
  tls: null,
  peerCa: null,
  proxies: { trusted: [], header: 'x-forwarded-for' },
  operator: null,
}

export function readConnections(variables: EnvReader): ConnectionsConfig {
  return {
    tls: readTls(variables),
    peerCa: readNamedFile(variables, 'QS_PEER_CA', {
      about:
        'certificates (PEM) that vouch for nodes, synchronizer and issuer of tokens, beside those that every Node trusts',
      example: '/etc/quorumscan/ca.pem',
      file: demandCertificate,
    }),
    proxies: readProxies(variables),
    operator: readOperator(variables),
  }
}

/** `[::1]:9464`, too. */
const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):([0-9]{1,5})$/i
const PORT_MAX = 65_535

function readOperator(variables: EnvReader): ConnectionsConfig['operator'] {
  const text = variables.optional('QS_OPERATOR_ADDRESS', {
    about:
      'host:port for /metrics and health without TLS, of whoever runs it; /metrics is then served nowhere else',
    example: '127.0.0.1:9464',
  })
  if (text === null) return null
  const [, bracketed, plain, digits] = ADDRESS.exec(text) ?? []
  const [host, port] = [bracketed ?? plain ?? '', Number(digits)]
  if (host === '' || port > PORT_MAX)
    variables.problem(`QS_OPERATOR_ADDRESS is no host:port: ${JSON.stringify(text)}`)
  return { host, port }
}

function readTls(variables: EnvReader): CertificateFiles | null {
  const certFile = variables.optional('QS_TLS_CERT', {
    about: 'its certificate and those up to a root (PEM), to speak TLS; looked at again every 10 s',
    example: '/etc/quorumscan/tls/fullchain.pem',
    file: demandCertificate,
  })
  const keyFile = variables.optional('QS_TLS_KEY', {
    about: 'the key of that certificate (PEM)',
    example: '/etc/quorumscan/tls/privkey.pem',
    file: demandKey,
  })
  if (certFile !== null && keyFile !== null) return { certFile, keyFile }
  if (certFile !== keyFile) variables.problem('QS_TLS_CERT and QS_TLS_KEY go together')
  return null
}

function readProxies(variables: EnvReader): ProxiesConfig {
  const trusted = variables.parsed('QS_TRUSTED_PROXIES', {
    about: 'addresses and networks of reverse proxies that tell for whom they ask',
    example: '127.0.0.1,10.0.0.0/8',
    parse: parseProxies,
  })
  const given = variables.text('QS_TRUSTED_HEADER', {
    about: `in which header these do, of their own accord: ${FORWARDED_HEADERS.join(' or ')}`,
    example: 'forwarded',
    fallback: 'x-forwarded-for',
  })
  const header = FORWARDED_HEADERS.find((known) => known === given)
  if (header === undefined)
    variables.problem(`QS_TRUSTED_HEADER is none of ${FORWARDED_HEADERS.join(', ')}`)
  return { trusted, header: header ?? 'x-forwarded-for' }
}
