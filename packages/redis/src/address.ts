/** The address of a Redis: a URL, and files for secrets, which must not be in a URL. */
import {
  assertCertificate,
  type ClientTls,
  type ClientTlsFiles,
  type EnvReader,
  openClientTls,
  readNamedFile,
  readOwnCertificate,
  readSecret,
  type VariableSpec,
} from '@quorumscan/base'

type Endpoint = { readonly host: string; readonly port: number }

export type RedisLocation =
  /** A unix socket. */
  | { readonly path: string }
  | Endpoint
  /** The Redis that the sentinels report as the primary of this name. */
  | { readonly sentinels: readonly Endpoint[]; readonly name: string }

type Secrets<Value> = {
  readonly username?: Value
  readonly password?: Value
  readonly sentinelUsername?: Value
  readonly sentinelPassword?: Value
}

/** An operator's configuration of a Redis. `readRedisAddress` reads its files. */
export type RedisConfig = {
  readonly place: RedisLocation
  readonly secretFiles?: Secrets<string | null>
  /** Null: without TLS. */
  readonly tls?: ClientTlsFiles | null
}

/** The options of a connection that identify its Redis. */
export type RedisAddress = RedisLocation &
  Secrets<string> & {
    /** Null: trusts the certificate authorities built into Node.js. Absent: without TLS. */
    readonly tls?: ClientTls | null
  }

export function usesSentinels(place: RedisLocation): boolean {
  return 'sentinels' in place
}

/** Reads a URL and the variables that belong to it. Invalid values are reported as problems. */
export function readRedis(variables: EnvReader, name: string, spec: VariableSpec): RedisConfig {
  const { about, example } = spec
  const text = variables.text(name, {
    about: `${about}: unix:///path, redis://host, rediss://host (TLS), or [redis|rediss]+sentinel://host,host/name`,
    example,
  })
  const fileOf = (suffix: string, what: string) =>
    variables.optional(`${name}_${suffix}_FILE`, {
      about: `the file of the ${what}`,
      example: `/etc/quorumscan/redis-${suffix.toLowerCase().replaceAll('_', '-')}`,
      file: () => {},
    })
  const secretFiles = {
    username: fileOf('USER', 'user name for this Redis; without it, the default user'),
    password: fileOf('PASSWORD', `password of the user in ${name}_USER_FILE`),
    sentinelUsername: fileOf('SENTINEL_USER', 'user name for the sentinels'),
    sentinelPassword: fileOf('SENTINEL_PASSWORD', 'password of the sentinel user'),
  }
  const tls = {
    ca: readNamedFile(variables, `${name}_CA`, {
      about: `certificates (PEM) of the authority of ${name}, in addition to those built into Node.js`,
      example: '/etc/quorumscan/redis-ca.pem',
      file: assertCertificate,
    }),
    own: readOwnCertificate(variables, name, 'this Redis'),
  }
  const { sentinelUsername, sentinelPassword } = secretFiles
  const noLocation = { place: { path: '' } }
  // The missing variable was reported.
  if (text === '') return noLocation
  try {
    const { place, isSecure } = parseRedisUrl(text)
    if (!isSecure && (tls.ca !== null || tls.own !== null))
      variables.contradiction(
        [name, `${name}_CA`, `${name}_CERT`],
        `${name}_CA and ${name}_CERT need TLS: use rediss:// in ${name}`,
      )
    if (!usesSentinels(place) && (sentinelUsername ?? sentinelPassword) !== null)
      variables.contradiction(
        [`${name}_SENTINEL_PASSWORD_FILE`, name],
        `${name} has no sentinels: unset ${name}_SENTINEL_PASSWORD_FILE`,
      )
    return { place, secretFiles, tls: isSecure ? tls : null }
  } catch (error) {
    variables.problem({ variable: name, place: 'value', why: (error as Error).message })
    return noLocation
  }
}

/** Reads the Redis of a process with a replica. */
export function readOwnRedis(variables: EnvReader): RedisConfig {
  return readRedis(variables, 'QS_REDIS', {
    about: 'its own Redis, with replica, queues, and its other data',
    example: 'rediss://redis.example:6380',
  })
}

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const PORT_MAX = 65_535
const URL_FORM = /^(rediss?)(\+sentinel)?:\/\/([^/?#]*)(?:\/([^?#]*))?$/
const ENDPOINT = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?$/i
/** The form that Redis accepts. */
const PRIMARY_NAME = /^[A-Za-z0-9._-]+$/

/** @throws {RangeError} With the reason, and without the password. */
export function parseRedisUrl(text: string): { place: RedisLocation; isSecure: boolean } {
  if (text.startsWith('unix://')) {
    const path = text.slice('unix://'.length)
    if (!path.startsWith('/'))
      throw new RangeError('the path of a unix socket begins with a slash: unix:///path')
    return { place: { path }, isSecure: false }
  }
  // First, because other errors show the text.
  if (text.includes('@')) throw new RangeError('user and password belong in files, not in the URL')
  const [, scheme, sentinel, hosts = '', rest = ''] = URL_FORM.exec(text) ?? []
  if (scheme === undefined)
    throw new RangeError(
      `${JSON.stringify(text)} is not unix:///path, redis://host, rediss://host or [redis|rediss]+sentinel://host,host/name`,
    )
  const isSecure = scheme === 'rediss'
  if (sentinel === undefined) {
    if (rest !== '' && rest !== '0')
      throw new RangeError(`${JSON.stringify(text)}: only database 0 of a Redis is used`)
    return { place: parseEndpoint(hosts, REDIS_PORT), isSecure }
  }
  if (!PRIMARY_NAME.test(rest))
    throw new RangeError(
      `${JSON.stringify(text)} must end in the name of a primary, as in …/mymaster`,
    )
  const sentinels = hosts.split(',').map((one) => parseEndpoint(one, SENTINEL_PORT))
  return { place: { sentinels, name: rest }, isSecure }
}

function parseEndpoint(text: string, defaultPort: number): Endpoint {
  const [, bracketed, plain, digits] = ENDPOINT.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? defaultPort : Number(digits)
  if (host === undefined || port < 1 || port > PORT_MAX)
    throw new RangeError(`${JSON.stringify(text)} is not host:port`)
  return { host, port }
}

/**
 * Reads the files.
 *
 * @param defaultUser - Used with a password but no user.
 * @throws {Error} If a file cannot be read, or does not hold a certificate.
 */
export async function readRedisAddress(config: RedisConfig, defaultUser?: string) {
  const secrets: { -readonly [Name in keyof Secrets<string>]?: string } = {}
  for (const [name, file] of Object.entries(config.secretFiles ?? {}))
    if (file !== null) secrets[name as keyof typeof secrets] = await readSecret(file)
  if (secrets.password !== undefined && defaultUser !== undefined) secrets.username ??= defaultUser
  const tls = config.tls == null ? {} : { tls: openClientTls(config.tls) }
  return { ...config.place, ...secrets, ...tls }
}
