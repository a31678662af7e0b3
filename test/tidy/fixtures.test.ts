/** What tests open is made in one place each, which closes it: see packages/testkit/README.md. */
import { describe, expect, it } from 'vitest'
import { isTest, read, sources } from '../support/tree.ts'

const tests = sources.filter((file) => isTest(file) || file.includes('/testing/'))

/** Fixtures; tests of what they do; and processes that others measure or attack, each with settings of its own. */
const OWNERS =
  /^(packages\/testkit\/src\/(serve|free-port|directory|sentinels|bundle-program)\.ts|cluster\/src\/testing\/start-cluster\.ts|test\/(bench|attacks)\/.*-child\.ts|test\/attacks\/byzantine-engine\.ts|test\/support\/test-logs\.ts|test\/tidy\/fixtures\.test\.ts|test\/.*\.mjs)$/

/** Files with their own servers or directories, still to be changed. This list only shrinks. */
const TO_DO: readonly string[] = ['packages/redis/src/address.integration.test.ts']

/** Mutable variables of a file of tests, which one test may leave to the next: use a fixture. */
const TOP_LEVEL_LETS_MAX = 20

/** Functions of Node that open what a test must close, or programs that a test must stop. */
const OPENING = [
  /import \{[^}]*\b(createServer)\b[^}]*\} from 'node:(?:http|http2|https|net|tls)'/,
  /import \{[^}]*\b(mkdtemp|mkdtempSync)\b[^}]*\} from 'node:fs(?:\/promises)?'/,
  /\b(?:spawn|spawnSync|execFile)\((?:required\('redis'\)|'[^']*(redis-server)')/,
]

/** @returns What this source opens by itself. */
const openings = (source: string) =>
  OPENING.flatMap((pattern) => {
    const found = pattern.exec(source)
    return found === null ? [] : [found[1] ?? found[2] ?? 'redis-server']
  })

describe('fixtures of tests', () => {
  it.each([
    ['a server', "import { type AddressInfo, createServer } from 'node:net'", 'createServer'],
    ['a directory', "import { mkdir, mkdtemp } from 'node:fs/promises'", 'mkdtemp'],
    ['a Redis', "spawn(required('redis'), ['--port', '0'])", 'redis-server'],
  ])('%s that a test opens by itself is found', (_, source, found) => {
    expect(openings(source)).toEqual([found])
    expect(openings("import { createServer } from './server.ts'")).toEqual([])
  })

  it('open servers, directories and Redis for all tests', () => {
    const found = tests
      .filter((file) => !OWNERS.test(file))
      .map((file) => ({ file, opened: openings(read(file)) }))
      .filter(({ opened }) => opened.length > 0)
    expect(found.filter(({ file }) => !TO_DO.includes(file))).toEqual([])
    expect(TO_DO.filter((file) => !found.some((one) => one.file === file))).toEqual([])
  })

  it(`stand in place of variables: at most ${TOP_LEVEL_LETS_MAX} are left`, () => {
    const lets = tests
      .filter((file) => /\.test\.tsx?$/.test(file))
      .flatMap((file) => [...read(file).matchAll(/^let \w+/gm)].map(([text]) => `${file}: ${text}`))
    expect(lets.length, lets.join('\n')).toBeLessThanOrEqual(TOP_LEVEL_LETS_MAX)
  })
})
