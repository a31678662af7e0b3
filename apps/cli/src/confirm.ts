/** What one super-validator confirms with its own key, and what a node says of what was proposed. */
import { readFileSync } from 'node:fs'
import { type Clock, describeFileError, parseKeyFile } from '@quorumscan/base'
import {
  type AnsConfigWire,
  areRulesEqual,
  type Confirmer,
  changeOf,
  changeRules,
  confirmRules,
  dataDirectory,
  inForceToWire,
  type Proposals,
  type RulesInForce,
  readProposals,
  readRules,
  voteForVersion,
} from '@quorumscan/operator'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import { quorumOf } from '@quorumscan/verifier'
import type { LocalCluster } from './local-cluster.ts'
import { urlOf } from './network.ts'
import type { Common } from './rig.ts'
import { readGenesis } from './verify.ts'

/** Until the confirmation that completes a quorum shows at a node. */
const IN_FORCE_MS = 2_000
const POLL_MS = 100
export type OneFlags = {
  key?: string
  scan?: string
  synchronizer?: string
  tokenFile?: string
  genesis?: string
}

/** The rules that hold: as the node shows them that was named, or as enough nodes of the data directory agree. */
export async function rulesFor(
  options: Common & OneFlags,
  cluster: LocalCluster,
): Promise<AnsConfigWire> {
  if (options.scan !== undefined) return inForceToWire(await readRules(apiOf(options.scan)))
  return await cluster.rules(dataDirectory(options.dataDir))
}

/** As the node knows them that was named, or one of the data directory. */
export async function proposalsFor(
  options: Common & OneFlags,
  cluster: LocalCluster,
): Promise<Proposals> {
  return readProposals(await scanUrlOf(options, cluster))
}

/** Votes for a version of the protocol; the proposals are those of its node, with the vote once it knows of it. */
export async function voteForOne(
  options: Common & OneFlags,
  vote: { readonly version: number; readonly notBefore: string | null },
  clock: Clock,
): Promise<{ readonly name: string; readonly proposals: Proposals }> {
  const voter = memberOf(options)
  const name = await voteForVersion({ ...voter, nowMicros: clock.nowMicros() }, vote)
  const isSeen = ({ protocol, pending }: Proposals) =>
    (protocol.next?.version ?? protocol.version) === vote.version ||
    pending.some(
      ({ change, confirmedBy }) =>
        change.tag === 'SetProtocolVersion' &&
        change.value.version === vote.version &&
        confirmedBy.includes(name),
    )
  const read = () => readProposals(voter.rulesUrl)
  return { name, proposals: await untilShown(read, isSeen, clock) }
}

/** What the node shows once it knows of what was done; what it shows in the end where it does not. */
async function untilShown<T>(
  read: () => Promise<T>,
  isShown: (seen: T) => boolean,
  clock: Clock,
): Promise<T> {
  const endMs = clock.monotonicMs() + IN_FORCE_MS
  for (;;) {
    const seen = await read()
    if (isShown(seen) || clock.monotonicMs() >= endMs) return seen
    await clock.delay(POLL_MS)
  }
}

/** Where the node is asked that was named, or one of the data directory. */
async function scanUrlOf(options: Common & OneFlags, cluster: LocalCluster): Promise<string> {
  if (options.scan !== undefined) return apiOf(options.scan)
  const { nodes } = await cluster.addresses(dataDirectory(options.dataDir))
  const node = nodes.find(({ isUp }) => isUp)
  if (node === undefined)
    throw new CommandError(
      'no scan node is up: `quorumscan status` says why; or name another with `--scan`',
    )
  return apiOf(node.url)
}

/** @throws {UsageError} If it is no address. */
function apiOf(text: string): string {
  return `${urlOf('--scan', text)}/v0`
}

/** Confirms other rules of the name service, unless they hold already. */
export async function confirmForOne(
  options: Common & OneFlags,
  wanted: Parameters<typeof changeOf>[0],
  clock: Clock,
) {
  const member = memberOf(options)
  const { genesis, rulesUrl } = member
  const before = await readRules(rulesUrl)
  const config = changeRules(genesis, before.config, changeOf(wanted))
  const needed = quorumOf(genesis.nodes.length)
  if (areRulesEqual(before.config, config))
    return { name: null, isInForce: true, rules: inForceToWire(before), needed }
  const { contractId } = before
  const nowMicros = clock.nowMicros()
  const name = await confirmRules({ ...member, config, current: contractId, nowMicros })
  const isDone = (current: RulesInForce) => areRulesEqual(current.config, config)
  const current = await untilShown(
    () => readRules(rulesUrl),
    (seen) => seen.contractId !== contractId || isDone(seen),
    clock,
  )
  const isInForce = isDone(current)
  const rules = isInForce ? current : { contractId: current.contractId, config }
  return { name, isInForce, rules: inForceToWire(rules), needed }
}

/** Whose key it is, and where it confirms. */
function memberOf(options: Common & OneFlags): Confirmer {
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
    rulesUrl: apiOf(scan),
    synchronizer: { url: urlOf('--synchronizer', synchronizer), token },
  }
}

function readSecret<T>(file: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(file, 'utf8').trim())
  } catch (error) {
    const why = describeFileError(error, file) ?? `${file}: ${messageOf(error)}`
    throw new UsageError(`nothing was confirmed: ${why}`, { cause: error })
  }
}
