/** Settings without which Redis could lose, or drop, what it acknowledged. */
import type { Redis } from 'ioredis'

/** By name: what it must be, or a number that it must at least be. */
export type RequiredSettings = Readonly<Record<string, string | number>>

export type CheckedSettings = {
  /** `appendfsync is everysec; it must be always`, … */
  readonly wrong: readonly string[]
  /** Those that this user may not ask for, likewise: `appendfsync must be always`. */
  readonly unknown: readonly string[]
}

/** Asks by CONFIG GET; where that is not allowed, as by most who offer a Redis as a service, INFO tells some. */
export async function checkSettings(
  redis: Redis,
  required: RequiredSettings,
): Promise<CheckedSettings> {
  const wrong: string[] = []
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

async function readSetting(redis: Redis, name: string): Promise<string | null> {
  try {
    const [, value] = (await redis.config('GET', name)) as readonly string[]
    if (value !== undefined) return value
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw error
  }
  const told = TOLD_BY_INFO[name]
  return told === undefined ? null : told(await redis.info())
}

const TOLD_BY_INFO: Readonly<Record<string, (info: string) => string | null>> = {
  appendonly(info) {
    const isOn = /^aof_enabled:([01])\r?$/m.exec(info)?.[1]
    return isOn === undefined ? null : isOn === '1' ? 'yes' : 'no'
  },
  'maxmemory-policy': (info) => /^maxmemory_policy:(\S+)\r?$/m.exec(info)?.[1] ?? null,
}
