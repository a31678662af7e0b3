/** The strict check of a genesis document. */

import { isUsableKey } from '../crypto/usable-key.ts'
import { membersOf } from '../encoding/members-of.ts'
import { PARTY } from '../names/party.ts'
import {
  type CometbftOrdering,
  type Genesis,
  GenesisError,
  NOT_AFTER_MICROS_MAX,
} from './genesis.ts'

const HEX_20 = /^[0-9a-f]{40}$/
const HEX_32 = /^[0-9a-f]{64}$/
const DECIMAL = /^(?:0|[1-9][0-9]{0,27})\.[0-9]{10}$/
const NODES_MAX = 100
const VERSION = 3
/** The engine accepts whole milliseconds only. */
const MILLISECOND = 1000

/** Half a second for a proposal. If one of four members is down, each fourth block takes this much longer. */
const PROPOSE_MICROS_MAX = 500_000
/** Empty blocks keep reads fresh while nothing is ordered. */
const EMPTY_BLOCK_MICROS_MAX = 5_000_000
/** 257 KiB: the largest entry, with the overhead of a group. A computed constant would remain in each bundle. */
const BLOCK_BYTES_MIN = 263_168
/** 1 MiB: the largest group that a follower accepts. */
const BLOCK_BYTES_MAX = 1_048_576
/** Five entries that name as many as one may. */
const BLOCK_CONTRACTS_MIN = 1000

/** 64 KiB: what one user does in a day. */
const STATE_BYTES_PER_DAY_MIN = 65_536

/** The most that a genesis may allow, because all requests of a party are read and answered at once. */
const OPEN_REQUESTS_MAX = 1000

/** @throws {GenesisError} That names the member of which this is the value. */
type Rule = (value: unknown, path: string) => void

/**
 * Checks a genesis document strictly: no unknown member, every rule in range, names and keys unique.
 *
 * @throws {GenesisError} That names the member.
 */
export function parseGenesis(document: unknown): Genesis {
  const { version } = membersOf(document)
  check(version === VERSION, 'version', `: this software reads form ${VERSION}`)
  const required = {
    version: anything,
    protocolVersion: integer(1),
    nonce: matches(HEX_32),
    recordTime: integer(1),
    synchronizerId: matches(PARTY),
    ordering: anything,
    dso: matches(PARTY),
    nodes: list(
      1,
      record({ name: matches(/^[a-z0-9-]{1,32}$/), scanKey: key, operatorKey: key }),
      NODES_MAX,
    ),
    devnet: boolean,
    names: record({
      entryFeeUsd: matches(DECIMAL),
      entryLifetimeMicros: integer(1),
      renewalDurationMicros: integer(1),
      descriptionPrefix: text,
      requestLifetimeMicros: integer(1),
      openRequestsMax: integer(1, OPEN_REQUESTS_MAX),
    }),
    coin: record({
      tickMicros: integer(1),
      priceUsd: matches(DECIMAL),
      rewardPerRound: matches(DECIMAL),
    }),
    deduplicationMicrosMax: integer(NOT_AFTER_MICROS_MAX),
    activityRetentionMicros: integer(1),
  }
  record(required, { stateBytesPerDay: integer(STATE_BYTES_PER_DAY_MIN) })(document, '')
  const genesis = document as Genesis // As just checked.
  const { entryLifetimeMicros, renewalDurationMicros } = genesis.names
  check(
    renewalDurationMicros <= entryLifetimeMicros,
    'names.renewalDurationMicros',
    ': the renewal window is longer than the lifetime of a name (names.entryLifetimeMicros), so that a name could be ' +
      'renewed several times at once',
  )
  const seen = new Set<string>()
  const addAll = (values: readonly string[], path: string): void => {
    for (const value of values) {
      check(!seen.has(value), `${path}: ${value} occurs twice`)
      seen.add(value)
    }
  }
  for (const [index, { name, scanKey, operatorKey }] of genesis.nodes.entries())
    addAll([name, scanKey, operatorKey], `nodes[${index}]`)
  addAll(parseOrdering(genesis), 'ordering.validators')
  return genesis
}

/** Keys and ids that nothing else may have. */
function parseOrdering({ ordering, nodes }: Genesis): readonly string[] {
  const { driver } = membersOf(ordering)
  if (driver === 'redis') {
    record({ driver: anything, key })(ordering, 'ordering')
    return []
  }
  check(
    driver === 'cometbft',
    'ordering.driver',
    `: this software knows "redis" and "cometbft", not ${JSON.stringify(driver)}`,
  )
  record(
    {
      driver: anything,
      validators: list(
        nodes.length,
        record({ name: text, key, nodeId: matches(HEX_20) }),
        nodes.length,
      ),
      timeouts: record({
        proposeMicros: milliseconds(PROPOSE_MICROS_MAX),
        voteMicros: milliseconds(PROPOSE_MICROS_MAX),
        commitMicros: milliseconds(PROPOSE_MICROS_MAX),
        emptyBlockMicros: milliseconds(EMPTY_BLOCK_MICROS_MAX),
      }),
      blockBytesMax: integer(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX),
      blockContractsMax: integer(BLOCK_CONTRACTS_MIN),
    },
    { evidenceAge: record({ micros: integer(MILLISECOND), blocks: integer(1) }) },
  )(ordering, 'ordering')
  const { validators } = ordering as CometbftOrdering // As just checked.
  return validators.flatMap(({ name, key, nodeId }, index) => {
    check(
      name === nodes[index]?.name,
      `ordering.validators[${index}].name`,
      `: it is ${quoted(name)}, and the member of nodes[${index}] is ${quoted(nodes[index]?.name ?? '')}`,
    )
    return [key, nodeId]
  })
}

function check(condition: boolean, path: string, rule = ''): asserts condition {
  if (!condition) throw new GenesisError(`the genesis document is not valid at ${path}${rule}`)
}

/** An object with these members, of which the optional ones may be absent, and no others. */
function record(
  required: Readonly<Record<string, Rule>>,
  optional: Readonly<Record<string, Rule>> = {},
): Rule {
  return (value, path) => {
    const where = path || 'genesis'
    check(typeof value === 'object' && value !== null && !Array.isArray(value), where)
    const members = new Map(Object.entries(value))
    const rules = new Map(Object.entries({ ...required, ...optional }))
    const unknown = [...members.keys()].filter((name) => !rules.has(name)).map(quoted)
    const missing = Object.keys(required)
      .filter((name) => !members.has(name))
      .map(quoted)
    const problems = [
      ...(unknown.length > 0 ? [`${unknown.join(', ')} is no member of this version`] : []),
      ...(missing.length > 0 ? [`it lacks ${missing.join(', ')}`] : []),
    ]
    check(problems.length === 0, where, `: ${problems.join(', and ')}`)
    for (const [name, rule] of rules)
      if (members.has(name)) rule(members.get(name), path ? `${path}.${name}` : name)
  }
}

function quoted(name: string): string {
  return JSON.stringify(name)
}

function list(min: number, rule: Rule, max: number): Rule {
  return (value, path) => {
    check(
      Array.isArray(value) && value.length >= min && value.length <= max,
      path,
      `: it must have from ${min} to ${max} items`,
    )
    for (const [index, item] of value.entries()) rule(item, `${path}[${index}]`)
  }
}

/** The rule of a member that another function checks. */
function anything(): void {}

function boolean(value: unknown, path: string): void {
  check(typeof value === 'boolean', path)
}

function text(value: unknown, path: string): void {
  check(typeof value === 'string', path)
}

function matches(pattern: RegExp): Rule {
  return (value, path) => check(typeof value === 'string' && pattern.test(value), path)
}

function key(value: unknown, path: string): void {
  check(typeof value === 'string' && isUsableKey(value), path)
}

function integer(min: number, max = Number.MAX_SAFE_INTEGER): Rule {
  return (value, path) => {
    const isInRange = Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
    check(isInRange, path, `: it must be an integer from ${min} to ${max}`)
  }
}

function milliseconds(max: number): Rule {
  return (value, path) => {
    integer(MILLISECOND, max)(value, path)
    check(Number(value) % MILLISECOND === 0, path, ': whole milliseconds')
  }
}
