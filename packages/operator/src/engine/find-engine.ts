/**
 * Finds the CometBFT program, or builds it: an existing engine, pinned, and no part of this repository. It is needed only
 * where several members order the log together.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Env, succeeds } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'

/** The version to install. */
export const ENGINE_VERSION = '0.38.26'
export const ENGINE_PROGRAM = 'cometbft'
/** Below it f members could move block time (CSA-2026-001). */
const PATCH_MIN = 21
const VERSION_MS_MAX = 10_000

/** The directory of the program that this command builds, one for each version. */
export function engineCache(env: Env): string {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'quorumscan', `${ENGINE_PROGRAM}-${ENGINE_VERSION}`)
}

/**
 * The engine that `QS_COMETBFT` names, or the first on the PATH that may be used, or the one in the cache.
 *
 * @throws {CommandError} If none can be used. The message says why, and how to install one.
 */
export async function findEngine(env: Env): Promise<string> {
  const named = env['QS_COMETBFT']
  if (named) {
    await assertUsable(named).catch((cause: unknown) => {
      throw new CommandError(
        `QS_COMETBFT: ${messageOf(cause)}. Name another one; \`quorumscan cometbft install\` builds ${ENGINE_VERSION}`,
        { cause },
      )
    })
    return named
  }
  const reasons: string[] = []
  for (const place of [...(env['PATH'] ?? '').split(delimiter), engineCache(env)]) {
    const candidate = join(place, ENGINE_PROGRAM)
    if (!(await succeeds(access(candidate, constants.X_OK)))) continue
    try {
      await assertUsable(candidate)
      return candidate
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  const why =
    reasons.length === 0
      ? 'CometBFT is not installed on this machine'
      : `CometBFT is not usable: ${reasons.join('; ')}`
  throw new CommandError(
    `${why}; \`quorumscan cometbft install\` builds ${ENGINE_VERSION}, or set QS_COMETBFT to where it is`,
  )
}

async function assertUsable(command: string): Promise<void> {
  const { stdout } = await promisify(execFile)(command, ['version'], {
    timeout: VERSION_MS_MAX,
  }).catch((cause: unknown) => {
    throw new CommandError(`${command} cannot be run`, { cause })
  })
  const version = stdout.trim()
  const patch = /^v?0\.38\.([0-9]+)/.exec(version)?.[1]
  if (patch !== undefined && Number(patch) >= PATCH_MIN) return
  throw new CommandError(
    `${command} is version ${JSON.stringify(version)}; 0.38.${PATCH_MIN} or a newer patch of 0.38 is needed`,
  )
}

/** The engine's own requirement. */
const GO_MIN = '1.22.11'
const PACKAGE = `github.com/cometbft/cometbft/cmd/${ENGINE_PROGRAM}@v${ENGINE_VERSION}`

/**
 * The path of the engine that will be used: one that is installed, or the pinned one, which is built into the cache. The
 * build writes to stderr, and takes minutes the first time.
 *
 * @throws {CommandError} If Go is missing or too old. It says in two lines what to do.
 */
export async function installEngine(env: Env): Promise<string> {
  const found = await findEngine(env).catch(() => null)
  if (found !== null) return found
  const refusal = await refusalByGo(env)
  const cache = engineCache(env)
  if (refusal !== null)
    throw new CommandError(
      `${refusal}\nInstall Go ${GO_MIN} or newer from https://go.dev/dl, then:\n  GOBIN=${cache} go install ${PACKAGE}`,
    )
  await mkdir(dirname(cache), { recursive: true })
  // The file appears as a whole, even if two processes build at the same time.
  const directory = await mkdtemp(`${cache}.`)
  try {
    await build({ ...env, GOBIN: directory })
    await mkdir(cache, { recursive: true })
    await rename(join(directory, ENGINE_PROGRAM), join(cache, ENGINE_PROGRAM))
  } finally {
    await rm(directory, { recursive: true })
  }
  // If QS_COMETBFT names another program that cannot be used, this reports it.
  return await findEngine(env)
}

/** Why Go cannot build it; null: it can. */
async function refusalByGo(env: Env): Promise<string | null> {
  const asked = promisify(execFile)('go', ['env', 'GOVERSION'], { env, timeout: VERSION_MS_MAX })
  const go = await asked.catch(() => null)
  if (go === null) return `CometBFT is built with Go ${GO_MIN} or newer, and none is on the PATH.`
  const version = go.stdout.trim().replace(/^go/, '')
  // Compares the numbers in both, from the first on.
  if (version.localeCompare(GO_MIN, 'en', { numeric: true }) >= 0) return null
  return `CometBFT needs Go ${GO_MIN} or newer, and the one on the PATH is ${JSON.stringify(version)}.`
}

/** @throws {CommandError} If it failed. Go has printed why. */
async function build(env: Env): Promise<void> {
  const go = spawn('go', ['install', PACKAGE], { env, stdio: ['ignore', 2, 2] })
  const [code, signal] = await once(go, 'exit')
  if (code !== 0) throw new CommandError(`\`go install ${PACKAGE}\` failed (${signal ?? code})`)
}
