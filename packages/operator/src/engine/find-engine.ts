/**
 * Where the CometBFT program is: an existing engine, pinned, and no part of this repository. It is needed only where
 * several members order the log together.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Env } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'

/** What is to be installed. */
export const ENGINE_VERSION = '0.38.26'
export const ENGINE_PROGRAM = 'cometbft'
/** Below it f members could move block time (CSA-2026-001). */
const PATCH_MIN = 21
const TIMEOUT_MS = 10_000

/** Where it is kept for this purpose, a directory for each version. */
export function engineCache(env: Env): string {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'quorumscan', `${ENGINE_PROGRAM}-${ENGINE_VERSION}`)
}

/**
 * The engine that `QS_COMETBFT` names, or the first on the PATH that may be used, or the one in the cache.
 *
 * @throws {CommandError} If there is none; it says what stood in the way, and how to have one.
 */
export async function findEngine(env: Env): Promise<string> {
  const named = env['QS_COMETBFT']
  if (named) {
    await assertUsable(named)
    return named
  }
  const reasons: string[] = []
  for (const place of [...(env['PATH'] ?? '').split(delimiter), engineCache(env)]) {
    const candidate = join(place, ENGINE_PROGRAM)
    if (!(await isProgram(candidate))) continue
    try {
      await assertUsable(candidate)
      return candidate
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  const why = reasons.length === 0 ? 'there is no CometBFT on this machine' : reasons.join('; ')
  throw new CommandError(
    `${why}; \`quorumscan cometbft install\` builds ${ENGINE_VERSION}, or set QS_COMETBFT to where it is`,
  )
}

async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function assertUsable(command: string): Promise<void> {
  const { stdout } = await promisify(execFile)(command, ['version'], { timeout: TIMEOUT_MS }).catch(
    (cause: unknown) => {
      throw new CommandError(`${command} cannot be run`, { cause })
    },
  )
  const version = stdout.trim()
  const patch = /^v?0\.38\.([0-9]+)/.exec(version)?.[1]
  if (patch !== undefined && Number(patch) >= PATCH_MIN) return
  throw new CommandError(
    `${command} is version ${JSON.stringify(version)}; 0.38.${PATCH_MIN} or a newer patch of 0.38 is needed`,
  )
}
