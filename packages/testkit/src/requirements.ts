/**
 * What tests need from the machine in addition to Node and npm packages. Only this file declares requirements and looks
 * for them. Tests with a missing requirement are skipped on a contributor's machine, and fail if `CI` is set.
 * `.ci/install-programs` installs them in CI.
 */
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findRedis, REDIS_VERSION_MIN } from '@quorumscan/base'
import { createDirectory } from './directory.ts'

/** The path of a program, or the reason why it cannot be used. */
export type Found = { readonly path: string } | { readonly why: string }

type Requirement = {
  /** Its name in messages. */
  readonly name: string
  readonly find: () => Found
  /** How to provide it. */
  readonly advice: string
}

const REQUIREMENTS = {
  redis: {
    name: 'redis-server',
    find: redis,
    advice: `install Redis ${REDIS_VERSION_MIN} or newer, or Valkey, or set REDIS_SERVER`,
  },
  cometbft: {
    name: 'CometBFT',
    // `quorumscan/testing/engine` looks for it as the product does, and reports what it found.
    find: () => program('QS_COMETBFT', 'cometbft'),
    advice: 'see CONTRIBUTING.md',
  },
  chromium: {
    name: 'Chromium',
    find: () =>
      program('CHROMIUM', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'),
    advice: "install Debian's package chromium, or set CHROMIUM",
  },
  firefox: {
    name: 'Firefox',
    find: () => program('FIREFOX', 'firefox-esr', 'firefox'),
    advice: "install Debian's package firefox-esr, or set FIREFOX",
  },
  promtool: {
    name: 'promtool',
    find: () => program(null, 'promtool'),
    advice: "install Debian's package prometheus",
  },
  prometheus: {
    name: 'Prometheus',
    find: () => program(null, 'prometheus'),
    advice: "install Debian's package prometheus",
  },
  python3: {
    name: 'python3',
    find: () => program(null, 'python3'),
    advice: "install Debian's package python3",
  },
  systemdNotify: {
    name: 'systemd-notify',
    find: () => program(null, 'systemd-notify'),
    advice: "install Debian's package systemd",
  },
  systemdAnalyze: {
    name: 'systemd-analyze',
    find: () => program(null, 'systemd-analyze'),
    advice: "install Debian's package systemd",
  },
  java: {
    name: 'java',
    // Version 11 and newer run a source file.
    find: () => program(null, 'java'),
    advice: "install Debian's package default-jdk-headless",
  },
  cargo: {
    name: 'cargo',
    find: () => program(null, 'cargo'),
    advice: "install Debian's package cargo",
  },
  go: {
    name: 'go',
    find: () => program(null, 'go'),
    advice: "install Debian's package golang-go",
  },
  pip: {
    name: 'pip',
    find: () => attempt(() => run('python3', '-m', 'pip', '--version')),
    advice: "install Debian's package python3-pip",
  },
  openssl: {
    name: 'openssl',
    find: () => program(null, 'openssl'),
    advice: "install Debian's package openssl",
  },
  mmdebstrap: {
    name: 'mmdebstrap',
    find: () => program(null, 'mmdebstrap'),
    advice: "install Debian's package mmdebstrap",
  },
  taskset: {
    name: 'taskset',
    find: () => program(null, 'taskset'),
    advice: "install Debian's package util-linux",
  },
  mount: {
    name: 'the right to mount a file system',
    find: () => attempt(mountOnce),
    advice: 'run the tests as root, with CAP_SYS_ADMIN in a container',
  },
  namespaces: {
    name: 'the right to make network namespaces',
    find: () => attempt(makeNamespaceOnce),
    advice:
      "run the tests as root, with CAP_NET_ADMIN in a container, and Debian's package iproute2",
  },
  fullDevice: {
    name: 'the device /dev/full',
    find: () => attempt(() => accessSync('/dev/full', constants.W_OK)),
    advice: 'run the tests on Linux',
  },
} as const satisfies Record<string, Requirement>

export type RequirementName = keyof typeof REQUIREMENTS

/** Skips the current test, or all tests of the current hook, by throwing. */
type Skip = (reason: string) => never

let skip: Skip | null = null
/** Requirements that `required` has announced: each only once, although many tests use the same fixture. */
const announced = new Set<RequirementName>()

/** Called before each file of tests (`test/support/requirements.ts`). Benchmarks have no tests to skip. */
export function skipTestsBy(how: Skip): void {
  skip = how
}

/**
 * Whether a part that other work can do without can run: `if (provided('chromium') === null)`. A line on stderr names a
 * missing requirement. Tests call `required`, which skips them.
 *
 * @param found - Default: the result of the requirement's own search.
 * @returns Its path, or null if it is missing.
 * @throws {Error} If it is missing and `CI` is set.
 */
export function provided(key: RequirementName, found: Found = REQUIREMENTS[key].find()) {
  if ('path' in found) return found.path
  announce(sentenceOf(key, found))
  return null
}

/**
 * The path of a program that a fixture starts. If it is missing, the test or hook that uses the fixture ends here and
 * its tests are skipped, with the reason, which test/support/report.ts counts.
 *
 * @param found - Default: the result of the requirement's own search.
 * @throws {Error} If it is missing and `CI` is set, or no test runs.
 */
export function required(key: RequirementName, found: Found = REQUIREMENTS[key].find()): string {
  if ('path' in found) return found.path
  const sentence = sentenceOf(key, found)
  if (skip === null) throw new Error(sentence)
  if (!announced.has(key)) announce(sentence)
  announced.add(key) // If CI is set, `announce` has thrown.
  return skip(sentence)
}

function announce(sentence: string): void {
  if (process.env['CI']) throw new Error(`CI is set, and ${sentence}`)
  process.stderr.write(`SKIPPED  tests for which ${sentence}\n`)
}

function sentenceOf(key: RequirementName, { why }: { readonly why: string }): string {
  const { name, advice } = REQUIREMENTS[key]
  return `${name} is missing (${why}): ${advice}`
}

/** $REDIS_SERVER, or what the product would start. */
function redis(): Found {
  if (process.env['REDIS_SERVER']) return program('REDIS_SERVER', 'redis-server')
  const path = findRedis(process.env)
  return path === null ? { why: 'not on the PATH' } : { path }
}

/** A program that a variable names, or the first of these on the PATH. */
function program(variable: string | null, ...names: readonly string[]): Found {
  const named = variable === null ? undefined : process.env[variable]
  if (named?.includes('/'))
    return isProgram(named)
      ? { path: named }
      : { why: `${variable} is ${named}, which cannot be executed` }
  for (const name of named ? [named] : names)
    for (const directory of (process.env['PATH'] ?? '').split(delimiter))
      if (isProgram(join(directory, name))) return { path: join(directory, name) }
  return { why: 'not on the PATH' }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs `work`, because no file shows which rights a process has in a container. */
function attempt(work: () => unknown): Found {
  try {
    work()
    return { path: '' }
  } catch (error) {
    return { why: String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '' }
  }
}

function mountOnce(): void {
  using directory = createDirectory()
  run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory.path)
  run('umount', directory.path)
}

function makeNamespaceOnce(): void {
  const name = `qs${process.pid}-trial`
  run('ip', 'netns', 'add', name)
  run('ip', 'netns', 'del', name)
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'ignore'] })
}
