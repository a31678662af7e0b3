/** What one super-validator confirms with its own key, and what a node reports of proposals. */
import { isDeepStrictEqual } from 'node:util'
import { type Clock, parseKeyFile } from '@quorumscan/base'
import {
  type AnsConfigInput,
  type Confirmer,
  changeRules,
  confirmRules,
  dataDirectory,
  type Proposals,
  type RulesInForce,
  readGenesis,
  readProposals,
  readRules,
  voteForVersion,
} from '@quorumscan/operator'
import { CommandError, readInput, UsageError } from '@quorumscan/runtime'
import { memberOf, memberSetOf } from '@quorumscan/verifier'
import { urlOf } from './network.ts'
import type { Common, LocalCluster } from './rig.ts'
import { openTrust } from './trust.ts'

/** The wait until a node shows a confirmation that completed a quorum. */
const IN_FORCE_MS = 2_000
const POLL_MS = 100

export type MemberFlags = Common & {
  key?: string
  scan?: string
  synchronizer?: string
  tokenFile?: string
  genesis?: string
}

/** The rules in force, as the named node reports them, or as enough nodes of the data directory agree. */
export function rulesFor(options: MemberFlags, cluster: LocalCluster): Promise<RulesInForce> {
  if (options.scan !== undefined) return readRules(apiOf(options.scan))
  return cluster.rules(dataDirectory(options.dataDir))
}

/** The proposals that the named node reports, or a node of the data directory. */
export async function proposalsFor(options: MemberFlags, cluster: LocalCluster) {
  if (options.scan !== undefined) return readProposals(apiOf(options.scan))
  const { nodes } = await cluster.addresses(dataDirectory(options.dataDir))
  const node = nodes.find(({ isUp }) => isUp)
  if (node === undefined)
    throw new CommandError(
      'no scan node is up: `quorumscan status` shows why; or name another with `--scan`',
    )
  return readProposals(apiOf(node.url))
}

/** Votes for a version of the protocol. Returns the proposals of its node once the vote shows there, or after 2 s. */
export async function voteForOne(
  options: MemberFlags,
  vote: { readonly version: number; readonly notBefore: string | null },
  clock: Clock,
): Promise<{ readonly name: string; readonly proposals: Proposals }> {
  const voter = confirmerOf(options)
  const name = await voteForVersion({ ...voter, nowMicros: clock.nowMicros() }, vote)
  const isShown = ({ protocol, pending }: Proposals) =>
    (protocol.next?.version ?? protocol.version) === vote.version ||
    pending.some(
      ({ change, confirmedBy }) =>
        memberOf(change, 'protocolVersion') === vote.version && confirmedBy.includes(name),
    )
  const read = () => readProposals(voter.rulesUrl)
  return { name, proposals: await untilShown(read, isShown, clock) }
}

/** Confirms other rules of the name service, unless they are in force already. */
export async function confirmForOne(options: MemberFlags, change: AnsConfigInput, clock: Clock) {
  const member = confirmerOf(options)
  const { genesis, rulesUrl } = member
  const before = await readRules(rulesUrl)
  const config = changeRules(genesis, before.config, change)
  const needed = memberSetOf(genesis).quorum
  if (isDeepStrictEqual(before.config, config))
    return { name: null, isInForce: true, rules: before, needed }
  const { contractId } = before
  const nowMicros = clock.nowMicros()
  const name = await confirmRules({ ...member, config, current: contractId, nowMicros })
  const isDone = (current: RulesInForce) => isDeepStrictEqual(current.config, config)
  const isShown = (shown: RulesInForce) => shown.contractId !== contractId || isDone(shown)
  const current = await untilShown(() => readRules(rulesUrl), isShown, clock)
  return { name, isInForce: isDone(current), rules: { ...current, config }, needed }
}

/** The first answer of the node that shows the change, or its last answer when the time is over. */
async function untilShown<T>(read: () => Promise<T>, isShown: (shown: T) => boolean, clock: Clock) {
  const endMs = clock.monotonicMs() + IN_FORCE_MS
  for (;;) {
    const shown = await read()
    if (isShown(shown) || clock.monotonicMs() >= endMs) return shown
    await clock.delay(POLL_MS)
  }
}

/** @throws {UsageError} If it is not an address. */
function apiOf(text: string): string {
  return `${urlOf('--scan', text)}/v0`
}

/** The super-validator whose key is named, and where it confirms. */
function confirmerOf(options: MemberFlags): Confirmer {
  const { key, scan, synchronizer } = options
  if (key === undefined || scan === undefined || synchronizer === undefined)
    throw new UsageError(
      '--key confirms for one super-validator: name its own scan node with `--scan` and its own synchronizer with ' +
        '`--synchronizer` as well',
    )
  const token = options.tokenFile === undefined ? null : readSecret(options.tokenFile, String)
  return {
    genesis: readGenesis(options.genesis ?? dataDirectory(options.dataDir).genesisFile),
    keyPair: readSecret(key, parseKeyFile),
    keyFile: key,
    rulesUrl: apiOf(scan),
    synchronizer: {
      url: urlOf('--synchronizer', synchronizer),
      token,
      trust: openTrust(process.env),
    },
  }
}

function readSecret<T>(file: string, parse: (text: string) => T): T {
  return readInput(file, (bytes) => parse(bytes.toString().trim()), 'nothing was confirmed: ')
}
