/**
 * Finds the Redis or Valkey server of this machine: for the command line, for tests, and for `cluster/bootstrap.mjs`, which
 * imports this file before anything is installed or built. So it is plain JavaScript without dependencies, and its syntax
 * must parse on old Nodes.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The first version whose append-only file has a base and increments, and whose ACL has `%R~`. */
export const REDIS_VERSION_MIN = '7.0'
/** Names of the program, in the order in which they are looked for. */
export const REDIS_SERVERS = ['redis-server', 'valkey-server']
const VERSION_MS_MAX = 10_000

/**
 * The server to start: `$REDIS_SERVER`, which is not checked; or the first of these that runs and is new enough: one on the
 * PATH, a private copy in the cache, one of Homebrew.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {string | null} Its path, or what the variable names; null if there is none.
 */
export function findRedis(env) {
  const named = env['REDIS_SERVER']
  if (named) return named
  const isUsable = (/** @type {string} */ file) => isRedisNewEnough(redisVersionOf(file))
  return (
    [...onPath(env), ...privateCopies(env)].find(isUsable) ?? ofHomebrew(env).find(isUsable) ?? null
  )
}

/**
 * The folder of private copies, which `cluster/provide-redis.mjs` makes: `redis-8.0.2/bin/redis-server`.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function redisCache(env) {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'quorumscan')
}

/**
 * The version of a program such as `8.0.2`; null if it cannot be run or is no server of Redis or Valkey.
 *
 * @param {string} file
 */
export function redisVersionOf(file) {
  const asked = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: VERSION_MS_MAX })
  return readRedisVersion(asked.stdout ?? '')
}

/**
 * The version in what `--version` prints: `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`; null without one.
 *
 * @param {string} text
 */
export function readRedisVersion(text) {
  return /\bserver v=([0-9]+(?:\.[0-9]+)*)/.exec(text)?.[1] ?? null
}

/** @param {string | null} version */
export function isRedisNewEnough(version) {
  return version !== null && version.localeCompare(REDIS_VERSION_MIN, 'en', { numeric: true }) >= 0
}

/** @param {Readonly<Record<string, string | undefined>>} env */
function onPath(env) {
  const directories = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
  return REDIS_SERVERS.flatMap((name) => directories.map((directory) => join(directory, name)))
}

/**
 * The newest first.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 */
function privateCopies(env) {
  const cache = redisCache(env)
  const names = namesIn(cache).filter((name) => /^(redis|valkey)-[0-9][0-9.]*$/.test(name))
  names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return names.map((name) => join(cache, name, 'bin', `${name.split('-', 1)[0]}-server`))
}

/** @param {string} directory */
function namesIn(directory) {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** @param {Readonly<Record<string, string | undefined>>} env */
function ofHomebrew(env) {
  if (process.platform !== 'darwin') return []
  const { status, stdout } = spawnSync('brew', ['--prefix', 'redis'], { env, encoding: 'utf8' })
  return status === 0 ? [join(stdout.trim(), 'bin', 'redis-server')] : []
}
