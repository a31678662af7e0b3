/** Where a Redis is, and how it is reached: a URL, and files for what must not stand in one. */
import {
  type ClientTls,
  type ClientTlsFiles,
  demandCertificate,
  type EnvReader,
  type Meaning,
  openClientTls,
  readNamedFile,
  readOwnCertificate,
  readSecret,
} from '@quorumscan/base'

type Endpoint = { readonly host: string; readonly port: number }

export type RedisPlace =
  /** A unix socket. */
  | { readonly path: string }
  | Endpoint
  /** Whichever Redis the sentinels call the primary of this name. */
  | { readonly sentinels: readonly Endpoint[]; readonly name: string }

/** What an operator says of a Redis. Files are read by `readRedisAddress`. */
export type RedisConfig = {
  readonly place: RedisPlace
  readonly userFile?: string | null
  readonly passwordFile?: string | null
  readonly sentinelUserFile?: string | null
  readonly sentinelPasswordFile?: string | null
  /** Null: without TLS. */
  readonly tls?: ClientTlsFiles | null
}

/** What a connection needs. */
export type RedisAddress = RedisPlace & {
  readonly username?: string
  readonly password?: string
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
  /** Null: by the certificates that every Node trusts. Absent: without TLS. */
  readonly tls?: ClientTls | null
}

export function isBehindSentinels(place: RedisPlace): boolean {
  return 'sentinels' in place
}

/** Reads a URL, and the variables that belong to it; what is wrong is a problem of the reader. */
export function readRedis(variables: EnvReader, name: string, meaning: Meaning): RedisConfig {
  const { about, example } = meaning
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
  const files = {
    userFile: fileOf('USER', 'user that this Redis knows; without it the default one'),
    passwordFile: fileOf('PASSWORD', 'password of that user'),
    sentinelUserFile: fileOf('SENTINEL_USER', 'user that the sentinels know'),
    sentinelPasswordFile: fileOf('SENTINEL_PASSWORD', 'password of that one'),
  }
  const tls = {
    ca: readNamedFile(variables, `${name}_CA`, {
      about: 'certificates (PEM) that vouch for it, beside those that every Node trusts',
      example: '/etc/quorumscan/redis-ca.pem',
      file: demandCertificate,
    }),
    own: readOwnCertificate(variables, name, 'this Redis'),
  }
  const nowhere = { place: { path: '' } }
  // What is missing was told.
  if (text === '') return nowhere
  try {
    const { place, isSecure } = parseRedisUrl(text)
    if (!isSecure && (tls.ca !== null || tls.own !== null))
      variables.problem(`${name} is without TLS, and ${name}_CA or ${name}_CERT is set`)
    if (
      !isBehindSentinels(place) &&
      (files.sentinelUserFile ?? files.sentinelPasswordFile) !== null
    )
      variables.problem(`${name} has no sentinels, and ${name}_SENTINEL_PASSWORD_FILE is set`)
    return { place, ...files, tls: isSecure ? tls : null }
  } catch (error) {
    variables.problem(`${name}: ${(error as Error).message}`)
    return nowhere
  }
}

/** Of whoever has a replica. */
export function readOwnRedis(variables: EnvReader): RedisConfig {
  return readRedis(variables, 'QS_REDIS', {
    about: 'its own Redis, with replica, queues, and what else it keeps',
    example: 'rediss://redis.example:6380',
  })
}

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const PORT_MAX = 65_535
const URL_FORM = /^(rediss?)(\+sentinel)?:\/\/([^/?#]*)(?:\/([^?#]*))?$/
const ENDPOINT = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?$/i
/** As Redis takes it. */
const PRIMARY_NAME = /^[A-Za-z0-9._-]+$/

/** @throws {RangeError} That says what is wrong, and shows no password. */
export function parseRedisUrl(text: string): { place: RedisPlace; isSecure: boolean } {
  if (text.startsWith('unix://')) {
    const path = text.slice('unix://'.length)
    if (!path.startsWith('/'))
      throw new RangeError('the path of a unix socket begins with a slash: unix:///path')
    return { place: { path }, isSecure: false }
  }
  // First: what is wrong with it otherwise is told with the text.
  if (text.includes('@'))
    throw new RangeError('user and password stand in files of their own, not in the URL')
  const [, scheme, sentinel, hosts = '', rest = ''] = URL_FORM.exec(text) ?? []
  if (scheme === undefined)
    throw new RangeError(
      `${JSON.stringify(text)} is no unix:///path, redis://host, rediss://host or [redis|rediss]+sentinel://host,host/name`,
    )
  const isSecure = scheme === 'rediss'
  if (sentinel === undefined) {
    if (rest !== '' && rest !== '0')
      throw new RangeError(`${JSON.stringify(text)}: only database 0 of a Redis is used`)
    return { place: parseEndpoint(hosts, REDIS_PORT), isSecure }
  }
  if (!PRIMARY_NAME.test(rest))
    throw new RangeError(`${JSON.stringify(text)} ends in no name of a primary, as in …/mymaster`)
  const sentinels = hosts.split(',').map((one) => parseEndpoint(one, SENTINEL_PORT))
  return { place: { sentinels, name: rest }, isSecure }
}

function parseEndpoint(text: string, defaultPort: number): Endpoint {
  const [, bracketed, plain, digits] = ENDPOINT.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? defaultPort : Number(digits)
  if (host === undefined || port < 1 || port > PORT_MAX)
    throw new RangeError(`${JSON.stringify(text)} is no host:port`)
  return { host, port }
}

/**
 * Reads the files.
 *
 * @param defaultUser - Where there is a password and no user.
 * @throws {Error} If one cannot be read, or holds no certificate.
 */
export async function readRedisAddress(
  config: RedisConfig,
  defaultUser?: string,
): Promise<RedisAddress> {
  const read = async (file: string | null | undefined) =>
    file == null ? undefined : await readSecret(file)
  const password = await read(config.passwordFile)
  const username =
    (await read(config.userFile)) ?? (password === undefined ? undefined : defaultUser)
  const sentinelUsername = await read(config.sentinelUserFile)
  const sentinelPassword = await read(config.sentinelPasswordFile)
  return {
    ...config.place,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(config.tls == null ? {} : { tls: openClientTls(config.tls) }),
  }
}
