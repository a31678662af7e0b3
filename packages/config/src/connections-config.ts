/** The configuration of connections to a process, and of its own to others. */
import { BlockList, isIP } from 'node:net'
import {
  assertCertificate,
  assertKey,
  type EnvReader,
  readNamedFile,
  type VariableSpec,
} from '@quorumscan/base'
import type { CertificateFiles } from '@quorumscan/runtime'

export type ConnectionsConfig = ReturnType<typeof readConnections>
export type ProxiesConfig = ReturnType<typeof readProxies>

/** The connections of a process that only this machine reaches. */
export const PLAIN_CONNECTIONS: ConnectionsConfig = {
  tls: null,
  peerCa: null,
  proxies: { trusted: [], header: 'x-forwarded-for' },
  operatorAddress: null,
}

export function readConnections(variables: EnvReader) {
  return {
    /** Null: it speaks plain HTTP. */
    tls: readTls(variables),
    /** Certificate authorities of nodes and synchronizer, in addition to those built into Node.js. */
    peerCa: readNamedFile(variables, 'QS_PEER_CA', {
      about:
        'certificate authorities (PEM) of nodes, synchronizer and token issuer, in addition to those built into Node.js',
      example: '/etc/quorumscan/ca.pem',
      file: assertCertificate,
    }),
    proxies: readProxies(variables),
    /** The address for health and metrics, or the path of a unix socket; null: the public address. */
    operatorAddress: readOperatorAddress(variables),
  }
}

/** Reads a variable that must be one of the words. */
export function readEnum<const Word extends string>(
  variables: EnvReader,
  name: string,
  words: readonly Word[],
  spec: VariableSpec & { readonly fallback: Word },
): Word {
  const text = variables.text(name, spec)
  const word = words.find((known) => known === text)
  if (word === undefined)
    variables.problem({
      variable: name,
      place: 'value',
      why: `${JSON.stringify(text)} is not one of ${words.join(', ')}`,
    })
  return word ?? spec.fallback
}

/** `host:port`; an IPv6 host is in brackets. */
const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):([0-9]{1,5})$/i
const PORT_MAX = 65_535

/** @throws {RangeError} If the text is not a host and a port. */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = ADDRESS.exec(text) ?? []
  const [host, port] = [bracketed ?? plain, Number(digits)]
  if (host === undefined || port > PORT_MAX)
    throw new RangeError(`${JSON.stringify(text)} is not host:port, such as 0.0.0.0:26656`)
  return { host, port }
}

/** The same text. Port 0 takes a free one. @throws {RangeError} As `parseAddress`. */
export function assertAddress(text: string): string {
  parseAddress(text)
  return text
}

const UNIX_SOCKET = 'unix://'

/** Where a process listens: on TCP, or on a unix socket. */
type ListenerAddress = ReturnType<typeof parseAddress> | { readonly path: string }

export function readOperatorAddress(variables: EnvReader): ListenerAddress | null {
  const [address = null] = variables.parsed<ListenerAddress>('QS_OPERATOR_ADDRESS', {
    about:
      'host:port for /metrics and health without TLS, for its operator; /metrics is then served nowhere else. `run` serves the metrics of all its processes there, and gives each a socket, unix:///path',
    example: '127.0.0.1:9464',
    parse(text) {
      if (text.startsWith(UNIX_SOCKET)) return [{ path: text.slice(UNIX_SOCKET.length) }]
      return text === '' ? [] : [parseAddress(text)]
    },
  })
  return address
}

function readTls(variables: EnvReader): CertificateFiles | null {
  const certFile = variables.optional('QS_TLS_CERT', {
    about: 'its certificate chain (PEM), to speak TLS; read again every 10 s',
    example: '/etc/quorumscan/tls/fullchain.pem',
    file: assertCertificate,
  })
  const keyFile = variables.optional('QS_TLS_KEY', {
    about: 'the key of the certificate in QS_TLS_CERT (PEM)',
    example: '/etc/quorumscan/tls/privkey.pem',
    file: assertKey,
  })
  if (certFile !== null && keyFile !== null) return { certFile, keyFile }
  if (certFile !== keyFile)
    variables.contradiction(
      ['QS_TLS_CERT', 'QS_TLS_KEY'],
      'set both QS_TLS_CERT and QS_TLS_KEY, or neither',
    )
  return null
}

/** Only the configured header is trusted: a proxy sets it, and forwards the other unchanged from the client. */
const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded'] as const

function readProxies(variables: EnvReader) {
  return {
    /** Addresses, or networks such as `10.0.0.0/8`, of proxies. */
    trusted: variables.parsed('QS_TRUSTED_PROXIES', {
      about: 'addresses and networks of reverse proxies whose forwarding header is trusted',
      example: '127.0.0.1,10.0.0.0/8',
      parse: parseProxies,
    }),
    /** The header that names the client. */
    header: readEnum(variables, 'QS_TRUSTED_HEADER', FORWARDED_HEADERS, {
      about: `the header in which the proxies of QS_TRUSTED_PROXIES name clients: ${FORWARDED_HEADERS.join(' or ')}`,
      example: 'forwarded',
      fallback: 'x-forwarded-for',
    }),
  }
}

/** Addresses and networks, separated by commas. @throws {RangeError} If an item is neither an address nor a network. */
export function parseProxies(text: string): readonly string[] {
  const items = text.split(',').filter(Boolean)
  for (const item of items) addTo(new BlockList(), item)
  return items
}

/** @throws {RangeError} If the item is neither an address nor a network. */
export function addTo(list: BlockList, item: string): void {
  const [address = '', prefix, ...rest] = item.split('/')
  const family = familyOf(address)
  const bits = prefix ?? (family === 'ipv4' ? '32' : '128')
  const isNetwork = isIP(address) !== 0 && /^[0-9]{1,3}$/.test(bits) && rest.length === 0
  if (!isNetwork || Number(bits) > (family === 'ipv4' ? 32 : 128))
    throw new RangeError(
      `${JSON.stringify(item)} is neither an IP address nor a network such as 10.0.0.0/8`,
    )
  list.addSubnet(address, Number(bits), family)
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}
