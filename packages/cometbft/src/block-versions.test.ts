import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { type DsoRulesPayload, dsoRules } from '@quorumscan/ledger'
import { serve, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { followBlockVersions } from './block-versions.ts'

const DSO = `dso::1220${'00'.repeat(32)}`
/** At which version 4 governs entries; blocks ten minutes later. */
const SINCE = 1_700_000_000_000_000
const LATER = SINCE + 600_000_000

/** A scan node that reports rules at an offset; null: an unusable answer. */
async function startNode() {
  const told: { offset: number; rules: Partial<DsoRulesPayload> | null } = { offset: 0, rules: {} }
  let count = 0
  const server = await serve((_request, response) => {
    count++
    const payload = { dso: DSO, protocolVersion: 3, nextVersion: null, svs: [], ...told.rules }
    const contract = { payload: dsoRules.type.encode(payload) }
    response.setHeader('x-ledger-offset', told.offset)
    response.end(told.rules === null ? '{' : JSON.stringify({ dso_rules: { contract } }))
  })
  return { ...server, told, count: () => count }
}

it('the block version is the last one that the operator’s scan node reported', async ({
  directory,
}) => {
  await using node = await startNode()
  const system = createSystemClock()
  /** Polls follow one another at once; the time limit of an answer is unchanged. */
  const delay = (ms: number, signal?: AbortSignal) => system.delay(ms === 5_000 ? 10 : ms, signal)
  const problems: unknown[] = []
  await using moved = await startNode()
  let { url } = node
  const options = {
    node: {
      get url() {
        return url
      },
    },
    file: join(directory, 'versions.json'),
    genesis: { protocolVersion: 3 },
    trust: null,
    clock: { ...system, delay },
    onProblem: (error: unknown) => problems.push(error),
  }
  {
    await using versions = await followBlockVersions(options)
    /** Two requests: the second one after the answer to the first was handled. */
    const round = async () => {
      const asked = node.count()
      await untilTrue('the next answer', () => node.count() > asked + 1)
    }
    expect(versions.versionAt(LATER)).toBe(3)
    node.told.offset = 10
    node.told.rules = { nextVersion: { version: 4, notBefore: SINCE } }
    await untilTrue('the newer rules', () => versions.versionAt(LATER) === 4)
    expect(versions.versionAt(LATER - 1)).toBe(3)
    // The replica of the node was deleted, and catches up.
    node.told.offset = 9
    node.told.rules = {}
    await round()
    node.told.rules = null
    await round()
    await untilTrue('the problem to be reported', () => problems.length > 0)
    expect(versions.versionAt(LATER)).toBe(4)
    // The node moves to another address.
    moved.told.offset = 11
    moved.told.rules = { nextVersion: { version: 5, notBefore: SINCE } }
    url = moved.url
    await untilTrue('rules from the new address', () => versions.versionAt(LATER) === 5)
  }
  const silent = { ...options, node: { url: 'http://127.0.0.1:1' } }
  await using again = await followBlockVersions(silent)
  expect([again.versionAt(LATER - 1), again.versionAt(LATER)]).toEqual([3, 5])
})

it('an unreadable file prevents the start, as the genesis version may be outdated', async ({
  directory,
}) => {
  const file = join(directory, 'unreadable.json')
  await mkdir(file)
  const options = {
    node: null,
    file,
    genesis: { protocolVersion: 3 },
    trust: null,
    clock: createSystemClock(),
    onProblem: () => {},
  }
  await expect(followBlockVersions(options)).rejects.toThrow('unreadable.json')
})
