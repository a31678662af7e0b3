/** Settings without which Redis could lose, or drop, acknowledged data. */
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

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if a setting is known to be wrong; the message names it. */
export async function assertSettings(
  redis: Redis,
  { required, what, onUnchecked }: SettingsOptions,
): Promise<void> {
  const { wrong, unknown } = await checkSettings(redis, required).catch((cause: unknown) => {
    throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what} does not report its settings.`, {
      cause,
    })
  })
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
  'maxmemory-policy': /^maxmemory_policy:(\S+)\r?$/m,
}
const YES_OR_NO = ['no', 'yes']
