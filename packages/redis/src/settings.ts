/** Settings without which Redis could lose, or drop, acknowledged data. */
import { isRedisNewEnough, REDIS_VERSION_MIN } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Redis } from 'ioredis'

/** The required value of each setting, or its least number. */
type RequiredSettings = Readonly<Record<string, string | number>>

/** Reads settings by CONFIG GET. Most hosted Redis do not allow that; then INFO has some of them. */
export async function checkSettings(redis: Redis, required: RequiredSettings) {
  /** `appendfsync is everysec; it must be always`, … */
  const wrong: string[] = []
  /** Those that this user may not read: `appendfsync must be always`, … */
  const unknown: string[] = []
  for (const [name, wanted] of Object.entries(required)) {
    const must = `must be ${typeof wanted === 'number' ? `${wanted} or more` : wanted}`
    const actual = await readSetting(redis, name)
    if (actual === null) unknown.push(`${name} ${must}`)
    else if (typeof wanted === 'number' ? Number(actual) < wanted : actual !== wanted)
      wrong.push(`${name} is ${actual}; it ${must}`)
  }
  return { wrong, unknown }
}

export type SettingsOptions = {
  readonly required: RequiredSettings
  /** Which Redis it is, as a message names it. */
  readonly what: string
  /** Receives a sentence about the settings that this user may not read. */
  readonly onUnchecked?: (sentence: string) => void
}

/** What INFO says of a server. Servers of Valkey also report the version of Redis with which they are compatible. */
const IN_SERVER_INFO = {
  role: /^role:(\S+)\r?$/m,
  primaryHost: /^master_host:(\S+)\r?$/m,
  primaryPort: /^master_port:(\S+)\r?$/m,
  version: /^redis_version:(\S+)\r?$/m,
}

/** Why no setting helps: the server takes no writes, or is too old; null if neither is known. */
async function problemOfServer(redis: Redis): Promise<string | null> {
  let info: string
  try {
    info = await redis.info()
  } catch (error) {
    // This user may not read it. Then the first command that such a server refuses shows it.
    if (error instanceof Error && error.name === 'ReplyError') return null
    throw error
  }
  const find = (name: keyof typeof IN_SERVER_INFO) => IN_SERVER_INFO[name].exec(info)?.[1] ?? null
  if (find('role') === 'slave') {
    const primary = `${find('primaryHost') ?? '?'}:${find('primaryPort') ?? '?'}`
    return `it is a read-only replica of ${primary}; name the primary, or its sentinels`
  }
  const version = find('version')
  return version === null || isRedisNewEnough(version)
    ? null
    : `it is Redis ${version}; it must be ${REDIS_VERSION_MIN} or newer, or Valkey`
}

/**
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the server takes no writes or is too old, or a setting is known to be
 *   wrong; the message names it.
 */
export async function assertSettings(
  redis: Redis,
  { required, what, onUnchecked }: SettingsOptions,
): Promise<void> {
  const unreported = (cause: unknown) => {
    throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what} does not report its settings.`, {
      cause,
    })
  }
  const problem = await problemOfServer(redis).catch(unreported)
  if (problem !== null) throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what}: ${problem}.`)
  const { wrong, unknown } = await checkSettings(redis, required).catch(unreported)
  if (wrong.length > 0)
    throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what}: ${wrong.join('; ')}.`)
  if (unknown.length > 0)
    onUnchecked?.(`The settings of ${what} cannot be checked: ${unknown.join('; ')}.`)
}

async function readSetting(redis: Redis, name: string): Promise<string | null> {
  try {
    const [, value] = (await redis.config('GET', name)) as readonly string[]
    if (value !== undefined) return value
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw error
  }
  const pattern = IN_INFO[name]
  const value = pattern?.exec(await redis.info())?.[1]
  return (name === 'appendonly' ? YES_OR_NO[Number(value)] : value) ?? null
}

/** The line of INFO that reports a setting. */
const IN_INFO: Readonly<Record<string, RegExp>> = {
  appendonly: /^aof_enabled:([01])\r?$/m,
  maxmemory: /^maxmemory:([0-9]+)\r?$/m,
  'maxmemory-policy': /^maxmemory_policy:(\S+)\r?$/m,
}
const YES_OR_NO = ['no', 'yes']
