/**
 * Faults of a machine's clock, for all its programs, by libfaketime, where it is installed. CometBFT asks the kernel
 * directly, and Redis receives times from its clients: both keep the right time.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '@quorumscan/runtime'
import type { ClockRun } from './fault-spec.ts'

/** Its path in the packages of Debian, Fedora and others, below a directory of libraries. */
const LIBRARY = 'faketime/libfaketimeMT.so.1'
const LIBRARY_DIRECTORIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib']
/** These rates exceed the tolerance of 10 s of replicas and synchronizers within seconds. */
const TIMES: Readonly<Record<ClockRun, string>> = { fast: '+0 x4', slow: '+0 x0.25', back: '+0' }
const STEPPED_BACK = '-30'

/** @throws {CommandError} If libfaketime is not installed. */
export function findFaketime(): string {
  const found = LIBRARY_DIRECTORIES.filter((directory) => existsSync(directory))
    .flatMap((directory) => [
      directory,
      // A directory for each architecture.
      ...readdirSync(directory).map((name) => join(directory, name)),
    ])
    .map((directory) => join(directory, LIBRARY))
    .find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new CommandError(
    'a fault of a machine’s clock needs libfaketime: install it by `apt-get install faketime`',
  )
}

/** The variables of a process with this fault of its clock. */
export function clockEnvironment(run: ClockRun, faultSocket: string) {
  const file = clockFileOf(faultSocket)
  writeFileSync(file, TIMES[run], { mode: 0o600 })
  return {
    LD_PRELOAD: findFaketime(),
    FAKETIME_TIMESTAMP_FILE: file,
    // Read each second. Waits and timers are unaffected: they use the monotonic clock.
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
}

/** Steps the clock of a process that was started with such variables. */
export function stepBack(faultSocket: string): void {
  writeFileSync(clockFileOf(faultSocket), STEPPED_BACK, { mode: 0o600 })
}

function clockFileOf(faultSocket: string): string {
  return `${faultSocket}.clock`
}
