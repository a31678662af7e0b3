/**
 * The clock of a machine, for all that its programs read of it: by libfaketime, where it is installed. CometBFT asks
 * the kernel itself, and Redis is told times by its clients: both keep the right one.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '@quorumscan/runtime'
import type { ClockRun } from './fault-spec.ts'

/** Where the packages of Debian, Fedora and others put it, below a directory of libraries. */
const LIBRARY = 'faketime/libfaketimeMT.so.1'
const LIBRARY_DIRECTORIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib']
/** Past the 10 s that replicas and synchronizers allow, within seconds. */
const TIMES: Readonly<Record<ClockRun, string>> = {
  fast: '+0 x4',
  slow: '+0 x0.25',
  back: '+0',
}
const STEPPED_BACK = '-30'

/** @throws {CommandError} Where libfaketime is not installed: it says how it is. */
export function findFaketime(): string {
  const found = LIBRARY_DIRECTORIES.filter((directory) => existsSync(directory))
    .flatMap((directory) => [
      directory,
      // One for each architecture.
      ...readdirSync(directory).map((name) => join(directory, name)),
    ])
    .map((directory) => join(directory, LIBRARY))
    .find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new CommandError(
    'libfaketime is not installed, without which a machine’s clock cannot be wrong: `apt-get install faketime`',
  )
}

/** What a process is started with whose clock goes wrong so. */
export function clockEnvironment(
  run: ClockRun,
  faultSocket: string,
): Readonly<Record<string, string>> {
  const file = clockFileOf(faultSocket)
  writeFileSync(file, TIMES[run], { mode: 0o600 })
  return {
    LD_PRELOAD: findFaketime(),
    FAKETIME_TIMESTAMP_FILE: file,
    // Read again each second. Waits and timers go on as they are: monotonic time is another clock.
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
}

/** Of a process that was started with such an environment. */
export function stepBack(faultSocket: string): void {
  writeFileSync(clockFileOf(faultSocket), STEPPED_BACK, { mode: 0o600 })
}

function clockFileOf(faultSocket: string): string {
  return `${faultSocket}.clock`
}
