/** The strict check of a genesis document. */
import { isUsableKey } from '../crypto/usable-key.ts'
import type { Json } from '../encoding/canonical-json.ts'
import {
  BLOCK_BYTES_RANGE,
  BLOCK_CONTRACTS_MIN,
  EMPTY_BLOCK_MICROS_MAX,
  type Genesis,
  GenesisError,
  type GenesisNode,
  NOT_AFTER_MICROS_MAX,
  OPEN_REQUESTS_MAX,
  PROPOSE_MICROS_MAX,
} from './genesis.ts'

const HEX_20 = /^[0-9a-f]{40}$/
const HEX_32 = /^[0-9a-f]{64}$/
const DECIMAL = /^(?:0|[1-9][0-9]{0,27})\.[0-9]{10}$/
const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/
const NODES_MAX = 100
const VERSION = 3
/** The engine reads no smaller parts of a second from us. */
const MILLISECOND = 1000

/**
 * Checks a genesis document strictly: no unknown member, every rule in range, names and keys unique.
 *
 * @throws {GenesisError} That names the member.
 */
export function parseGenesis(document: unknown): Genesis {
  const { version } = Object(document)
  check(version === VERSION, 'version', `: this software reads form ${VERSION}`)
  const root = record(document, 'genesis', [
    'version',
    'protocolVersion',
    'nonce',
    'recordTime',
    'synchronizerId',
    'ordering',
    'dso',
    'nodes',
    'devnet',
    'names',
    'coin',
    'deduplicationMicrosMax',
    'activityRetentionMicros',
  ])
  integer(root['protocolVersion'], 'protocolVersion', { min: 1 })
  matches(root['nonce'], HEX_32, 'nonce')
  duration(root['recordTime'], 'recordTime')
  matches(root['synchronizerId'], PARTY, 'synchronizerId')
  matches(root['dso'], PARTY, 'dso')
  check(typeof root['devnet'] === 'boolean', 'devnet')
  integer(root['deduplicationMicrosMax'], 'deduplicationMicrosMax', { min: NOT_AFTER_MICROS_MAX })
  duration(root['activityRetentionMicros'], 'activityRetentionMicros')

  const names = record(root['names'], 'names', [
    'entryFeeUsd',
    'entryLifetimeMicros',
    'renewalDurationMicros',
    'descriptionPrefix',
    'requestLifetimeMicros',
    'openRequestsMax',
  ])
  matches(names['entryFeeUsd'], DECIMAL, 'names.entryFeeUsd')
  duration(names['entryLifetimeMicros'], 'names.entryLifetimeMicros')
  duration(names['renewalDurationMicros'], 'names.renewalDurationMicros')
  check(typeof names['descriptionPrefix'] === 'string', 'names.descriptionPrefix')
  duration(names['requestLifetimeMicros'], 'names.requestLifetimeMicros')
  integer(names['openRequestsMax'], 'names.openRequestsMax', { min: 1, max: OPEN_REQUESTS_MAX })

  const coin = record(root['coin'], 'coin', ['tickMicros', 'priceUsd', 'rewardPerRound'])
  duration(coin['tickMicros'], 'coin.tickMicros')
  matches(coin['priceUsd'], DECIMAL, 'coin.priceUsd')
  matches(coin['rewardPerRound'], DECIMAL, 'coin.rewardPerRound')

  const nodes = root['nodes']
  check(Array.isArray(nodes) && nodes.length >= 1 && nodes.length <= NODES_MAX, 'nodes')
  const seen = new Set<string>()
  for (const [index, item] of (nodes as unknown[]).entries()) {
    const node = record(item, `nodes[${index}]`, ['name', 'scanKey', 'operatorKey'])
    matches(node['name'], /^[a-z0-9-]{1,32}$/, `nodes[${index}].name`)
    key(node['scanKey'], `nodes[${index}].scanKey`)
    key(node['operatorKey'], `nodes[${index}].operatorKey`)
    for (const value of [node['name'], node['scanKey'], node['operatorKey']] as string[]) {
      check(!seen.has(value), `nodes[${index}]: ${value} occurs twice`)
      seen.add(value)
    }
  }
  const nodeNames = (nodes as GenesisNode[]).map(({ name }) => name) // As just checked.
  for (const value of parseOrdering(root['ordering'], nodeNames)) {
    check(!seen.has(value), `ordering.validators: ${value} occurs twice`)
    seen.add(value)
  }
  return document as Genesis
}

function parseOrdering(value: unknown, nodeNames: readonly string[]): readonly string[] {
  const { driver } = Object(value)
  if (driver === 'cometbft') return parseCometbft(value, nodeNames)
  check(
    driver === 'redis',
    'ordering.driver',
    `: this software knows "redis" and "cometbft", not ${JSON.stringify(driver)}`,
  )
  const ordering = record(value, 'ordering', ['driver', 'key'])
  key(ordering['key'], 'ordering.key')
  return []
}

/** Keys and ids that nothing else may have. */
function parseCometbft(value: unknown, nodeNames: readonly string[]): readonly string[] {
  const { evidenceAge } = Object(value)
  const ordering = record(value, 'ordering', [
    'driver',
    'validators',
    'timeouts',
    'blockBytesMax',
    'blockContractsMax',
    ...(evidenceAge === undefined ? [] : ['evidenceAge']),
  ])
  if (evidenceAge !== undefined) {
    const age = record(evidenceAge, 'ordering.evidenceAge', ['micros', 'blocks'])
    integer(age['micros'], 'ordering.evidenceAge.micros', { min: MILLISECOND })
    integer(age['blocks'], 'ordering.evidenceAge.blocks', { min: 1 })
  }
  integer(ordering['blockBytesMax'], 'ordering.blockBytesMax', BLOCK_BYTES_RANGE)
  integer(ordering['blockContractsMax'], 'ordering.blockContractsMax', { min: BLOCK_CONTRACTS_MIN })
  const timeouts = record(ordering['timeouts'], 'ordering.timeouts', [
    'proposeMicros',
    'voteMicros',
    'commitMicros',
    'emptyBlockMicros',
  ])
  for (const [name, micros] of Object.entries(timeouts)) {
    const max = name === 'emptyBlockMicros' ? EMPTY_BLOCK_MICROS_MAX : PROPOSE_MICROS_MAX
    integer(micros, `ordering.timeouts.${name}`, { min: MILLISECOND, max })
    check(Number(micros) % MILLISECOND === 0, `ordering.timeouts.${name}`, ': whole milliseconds')
  }
  const validators = ordering['validators']
  check(
    Array.isArray(validators) && validators.length === nodeNames.length,
    'ordering.validators',
    ': one for each node, in the same order',
  )
  return (validators as unknown[]).flatMap((item, index) => {
    const path = `ordering.validators[${index}]`
    const validator = record(item, path, ['name', 'key', 'nodeId'])
    check(validator['name'] === nodeNames[index], `${path}.name`)
    key(validator['key'], `${path}.key`)
    matches(validator['nodeId'], HEX_20, `${path}.nodeId`)
    return [validator['key'], validator['nodeId']] as string[] // As just checked.
  })
}

function check(condition: boolean, path: string, rule = ''): asserts condition {
  if (!condition) throw new GenesisError(`the genesis document is not valid at ${path}${rule}`)
}

function record(value: unknown, path: string, members: readonly string[]): Record<string, Json> {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), path)
  const keys = Object.keys(value)
  check(
    keys.length === members.length && keys.every((key) => members.includes(key)),
    `${path} (members)`,
  )
  return value as Record<string, Json>
}

function matches(value: unknown, pattern: RegExp, path: string): void {
  check(typeof value === 'string' && pattern.test(value), path)
}

function key(value: unknown, path: string): void {
  check(typeof value === 'string' && isUsableKey(value), path)
}

function duration(value: unknown, path: string): void {
  integer(value, path, { min: 1 })
}

function integer(
  value: unknown,
  path: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): void {
  const isInRange = Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
  check(isInRange, path, `: it must be an integer from ${min} to ${max}`)
}
