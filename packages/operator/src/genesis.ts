/** Makes the genesis document of a new network out of its member files. */

import { readFileSync } from 'node:fs'
import { describeFileError, fromHex, sha256, toHex, utf8 } from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import { genesisDelta, NEWEST_RULES, rulesOf } from '@quorumscan/ledger'
import type { LogGenesis } from '@quorumscan/log'
import { formatDuration, participantOfKey } from '@quorumscan/model'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import {
  canonicalJson,
  EVIDENCE_AGE,
  type Genesis,
  type GenesisOrdering,
  parseGenesis,
} from '@quorumscan/verifier'
import {
  firstDigestOf,
  type MemberFile,
  type MemberFileOf,
  newestMembers,
} from './ceremony/member.ts'
import {
  type GenesisOverrides,
  isDuration,
  type NetworkRules,
  networkRules,
  type OrderingDriver,
  pathsOf,
  type Rules,
  ruleAt,
  withoutRule,
} from './ceremony/rules.ts'

/**
 * The genesis document that these members make, in whatever order they are given, validators left out: nonce and first record time follow
 * from their files, so that every operator with the same files and settings makes the same document.
 *
 * @throws {CommandError} If members have a name, a key or an address in common, one is missing, or the settings do not
 *   fit; it says which.
 */
export function createGenesis(
  memberFiles: readonly MemberFile[],
  settings: { readonly driver: OrderingDriver; readonly overrides: GenesisOverrides },
): Genesis {
  try {
    return validGenesis(memberFiles, settings)
  } catch (error) {
    if (error instanceof CommandError) throw error
    const blamed = blamedOverrides(memberFiles, settings)
    const advice =
      blamed.length === 0
        ? 'Set these rules to other values'
        : `Set another value than ${blamed.join(' or ')}`
    const message = `these members and rules do not form a valid network: ${messageOf(error)}. ${advice}`
    throw new CommandError(message, { cause: error })
  }
}

/** The overrides, each with its value, any of which it would be a network without. */
function blamedOverrides(
  memberFiles: readonly MemberFile[],
  { driver, overrides }: Parameters<typeof createGenesis>[1],
): readonly string[] {
  const rules = overrides as Rules
  return pathsOf(rules).flatMap((path) => {
    try {
      validGenesis(memberFiles, { driver, overrides: withoutRule(rules, path) as GenesisOverrides })
      const value = ruleAt(rules, path)
      return [
        `${path}=${typeof value === 'number' && isDuration(path) ? formatDuration(value) : value}`,
      ]
    } catch {
      return []
    }
  })
}

/** @throws {Error} If it is no valid network; a CommandError also names what to do. */
function validGenesis(
  memberFiles: readonly MemberFile[],
  { driver, overrides }: Parameters<typeof createGenesis>[1],
): Genesis {
  // The files of validators are in the same directory, but the genesis does not name validators.
  const members = newestMembers(memberFiles).filter(({ role }) => role !== 'validator')
  refuseDuplicates(members)
  const sorted = members.toSorted(byName)
  const nodes = sorted.filter((member) => member.role === 'super-validator')
  if (nodes.length === 0)
    throw new CommandError(
      'no file is that of a super-validator, and a network needs one or more: name their member files',
    )
  const { ordering: engineRules, ...rules } = networkRules(driver, overrides)
  const ordering = orderingOf(sorted, nodes, engineRules)
  const digests = sorted.map(firstDigestOf)
  const nonce = toHex(sha256(utf8('quorumscan/nonce/1\0'), ...digests))
  const document = {
    version: 3,
    nonce,
    recordTime: Math.max(...members.map(({ createdAtMicros }) => createdAtMicros)),
    synchronizerId: `synchronizer::${synchronizerDigits(ordering, nonce)}`,
    ordering,
    // No process has its key (D-29): the digits are the hash of the nonce, not of a key.
    dso: `DSO::1220${toHex(sha256(utf8('quorumscan/dso/1\0'), fromHex(nonce)))}`,
    nodes: nodes.map(({ name, keys }) => ({
      name,
      scanKey: keys.scan,
      operatorKey: keys.operator,
    })),
    ...rules,
  }
  const { protocolVersion } = rules
  if (rulesOf(protocolVersion) === undefined)
    throw new CommandError(
      `this software does not know version ${protocolVersion} of the protocol; the newest that it knows is ` +
        `${NEWEST_RULES.version}. Set protocolVersion to that, or install newer software`,
    )
  const genesis = parseGenesis(document)
  genesisDelta(genesis, hashGenesis(genesis)) // With which every replica begins.
  return genesis
}

/** Orders sv-10 after sv-9. */
function byName(one: MemberFile, other: MemberFile): number {
  return one.name.length - other.name.length || (one.name < other.name ? -1 : 1)
}

function refuseDuplicates(members: readonly MemberFile[]): void {
  const ownerOf = new Map<string, string>()
  for (const { name, keys, url, engineAddress } of members)
    for (const value of [name, ...Object.values(keys), url, engineAddress]) {
      if (value === null) continue
      const owner = ownerOf.get(value)
      if (owner !== undefined)
        throw new CommandError(
          owner === name && value === name
            ? `two member files are of ${name}: name each member once`
            : `${owner} and ${name} both have ${value}: each member has keys and addresses of its own. Ask both operators`,
        )
      ownerOf.set(value, name)
    }
}

function orderingOf(
  members: readonly MemberFile[],
  nodes: readonly MemberFileOf<'super-validator'>[],
  rules: NetworkRules['ordering'],
): GenesisOrdering {
  const synchronizers = members.filter((member) => member.role === 'synchronizer')
  if (rules === undefined) {
    const [synchronizer] = synchronizers
    if (synchronizer === undefined || synchronizers.length > 1)
      throw new CommandError(
        `with \`--ordering redis\` one synchronizer orders, and these are the files of ${synchronizers.length}: name the ` +
          'member file of one, or use `--ordering cometbft`',
      )
    return { driver: 'redis', key: synchronizer.keys.synchronizer }
  }
  if (synchronizers.length > 0)
    throw new CommandError(
      `with \`--ordering cometbft\` all super-validators order together, and ${synchronizers.map(({ name }) => name).join(', ')} ` +
        'is a synchronizer: leave its member file out, or use `--ordering redis`',
    )
  const validators = nodes.map(({ name, keys }) => ({
    name,
    key: keys.voting,
    nodeId: nodeIdOf(keys.engine),
  }))
  const { evidenceAge, ...others } = rules
  const isUsual = canonicalJson(evidenceAge) === canonicalJson(EVIDENCE_AGE)
  return { driver: 'cometbft', validators, ...others, ...(isUsual ? {} : { evidenceAge }) }
}

/** The hash of the synchronizer's key. With ordering members, no process has such a key. */
function synchronizerDigits(ordering: GenesisOrdering, nonce: string): string {
  if (ordering.driver === 'redis') return participantOfKey(ordering.key)
  return `1220${toHex(sha256(utf8('quorumscan/synchronizer/1\0'), fromHex(nonce)))}`
}

/** @throws {UsageError} If the file cannot be read, or does not hold a genesis. */
export function readGenesis(file: string): Genesis {
  try {
    return parseGenesis(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const why = describeFileError(error, file)
    throw new UsageError(
      why ??
        `${file} is not a genesis document: ${messageOf(error)}. Name the file that \`genesis create\` wrote, or fetch it from another operator`,
    )
  }
}

/** SHA-256 of the RFC 8785 form, hex (D-41). */
export function hashGenesis(genesis: Genesis): string {
  return toHex(sha256(utf8(canonicalJson(genesis))))
}

/** The part of the genesis against which the log is verified. */
export function logGenesisOf(genesis: Genesis): LogGenesis {
  const { recordTime, ordering } = genesis
  return { hash: hashGenesis(genesis), recordTime, ordering }
}
