/**
 * The application that the engine orders blocks for: one function from request to answer. A block is decided
 * (`finalizeBlock`), then published to followers (`commit`); what `info` reports moves with the second step only.
 * If it moved with the first, an engine that exits in between would ask for an answer that was never published.
 */
import { assert, fromHex, held, toHex } from '@quorumscan/base'
import type { CheckedEntry } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import { chainIdOf } from '@quorumscan/verifier'
import type { DeepPartial } from 'cosmjs-types/helpers'
import {
  CheckTxType,
  MisbehaviorType,
  type Request,
  Response,
  ResponseApplySnapshotChunk_Result,
  ResponseOfferSnapshot_Result,
  ResponseProcessProposal_ProposalStatus,
} from 'cosmjs-types/tendermint/abci/types'
import { type AnchorBlock, answerOffer, isGroupOf, listedSnapshots } from './block-snapshots.ts'
import { type BlockGroup, microsOf, orderBlock, type Tip } from './blocks.ts'
import { VOTING_POWER } from './engine-files.ts'
import type { MempoolPolicy } from './mempool-policy.ts'
import { type LastCommit, readLastCommit } from './ordering-report.ts'
import { type BlockLimits, isAcceptable, selectEntries } from './proposals.ts'

export type ApplicationOptions = {
  /** Hex. */
  readonly genesisHash: string
  readonly validators: readonly { readonly key: string }[]
  readonly limits: BlockLimits
  /** The version of the protocol by which the block after an entry with this record time is checked. */
  readonly blockVersionAt: (recordTime: Micros) => number
  /** The end of the log. */
  readonly tip: Tip
  readonly checkEntry: (bytes: Uint8Array) => CheckedEntry
  readonly isOrdered: (entryHash: string) => boolean
  /** What the engine stores and passes on before a block. Its transactions are bundles; those of a block are entries. */
  readonly mempool: Pick<MempoolPolicy, 'check' | 'entriesOf'>
  /** Whether the engine with this id, lower-case hex, may connect. */
  readonly isPeer: (nodeId: string) => boolean
  /** Called with a block that names members that voted twice in one step. Resolves when that is durable. */
  readonly onMisbehavior: (height: number) => Promise<void>
  /** Resolves when followers can have the group, however long it takes. */
  readonly publish: (group: BlockGroup, tip: Tip) => Promise<void>
  /** The height below which the engine may delete its blocks; 0: it keeps all. */
  readonly retainHeight: () => number
  /** Sync anchors for others, and the group that each made; null: it is no longer stored. */
  readonly anchors: () => readonly AnchorBlock[]
  readonly groupOf: (height: number) => Promise<Uint8Array | null>
  /** The height of the block that the log must start with; null: the engine has blocks. */
  readonly wantedHeight: () => number | null
  /** Starts the log with this group. Resolves when followers can have it, with the end of the log. */
  readonly startLogFrom: (group: Uint8Array, block: AnchorBlock) => Promise<Tip>
}

const APP_VERSION = 1n
const REFUSED = 1
const PEER_BY_ADDRESS = '/p2p/filter/addr/'
const PEER_BY_ID = '/p2p/filter/id/'

export function createApplication(options: ApplicationOptions) {
  const { checkEntry, limits } = options
  let { tip } = options
  /** Decided, and not published: the engine sends `commit` next, or repeats the block. */
  let pending: { readonly group: BlockGroup; readonly tip: Tip } | null = null
  const version = () => options.blockVersionAt(tip.recordTime)
  let lastCommit: LastCommit | null = null
  const voteHeights = held(
    { owner: 'cometbft', name: 'heights of votes', kind: 'state', bound: 'one of each member' },
    new Map<string, number>(),
  )
  /** The snapshot that the application accepted. */
  let accepted: AnchorBlock | null = null

  const handlers: Handlers = {
    // Pings, and the vote extensions that the application does not have.
    echo: ({ message }) => ({ message }),
    flush: () => ({}),
    info() {
      // Another engine, or the same after a restart: what was not committed will be repeated.
      pending = null
      const last = { lastBlockHeight: BigInt(tip.height), lastBlockAppHash: fromHex(tip.appHash) }
      return { data: 'quorumscan', appVersion: APP_VERSION, ...last }
    },
    initChain(request) {
      assertSameNetwork(request, options)
      return { appHash: fromHex(tip.appHash) }
    },
    checkTx({ tx, type }) {
      const refusal = options.mempool.check(tx, { isRecheck: type === CheckTxType.RECHECK })
      if (refusal === null) return {}
      const { code: codespace, message: log } = refusal
      return { code: REFUSED, codespace, log }
    },
    prepareProposal: ({ txs, time, maxTxBytes }) => ({
      txs: selectEntries({
        tip,
        version: version(),
        timeMicros: microsOf(time),
        limits,
        checkEntry,
        entries: options.mempool.entriesOf(txs),
        wireBytesMax: Number(maxTxBytes),
        isOrdered: options.isOrdered,
      }),
    }),
    processProposal({ txs: entries, time }) {
      const block = { entries, timeMicros: microsOf(time), version: version() }
      const isGood = isAcceptable({ ...block, tip, limits, checkEntry })
      const { ACCEPT, REJECT } = ResponseProcessProposal_ProposalStatus
      return { status: isGood ? ACCEPT : REJECT }
    },
    async finalizeBlock({ height: bigHeight, misbehavior, time, txs, decidedLastCommit }) {
      const height = Number(bigHeight)
      if (decidedLastCommit !== undefined) {
        lastCommit = readLastCommit(decidedLastCommit)
        // The votes that a block carries are on the one before.
        for (const address of lastCommit.present) voteHeights.set(address, height - 1)
      }
      if (misbehavior.some(({ type }) => type === MisbehaviorType.DUPLICATE_VOTE))
        await options.onMisbehavior(height)
      pending = orderBlock(tip, { height, timeMicros: microsOf(time), entries: txs })
      return { txResults: txs.map(() => ({})), appHash: fromHex(pending.tip.appHash) }
    },
    async commit() {
      assert(pending !== null, 'nothing was decided that could be committed')
      const decided = pending
      await options.publish(decided.group, decided.tip)
      // If the engine exited meanwhile, the next one may have repeated the block, or continued after it.
      if (decided.tip.height > tip.height) tip = decided.tip
      if (pending === decided) pending = null
      return { retainHeight: BigInt(options.retainHeight()) }
    },
    query({ path }) {
      // The engine asks by address, which decides nothing here, then by the id that the peer has proven.
      const isAdmitted =
        path.startsWith(PEER_BY_ADDRESS) ||
        (path.startsWith(PEER_BY_ID) && options.isPeer(path.slice(PEER_BY_ID.length)))
      return { code: isAdmitted ? 0 : REFUSED }
    },
    listSnapshots: () => listedSnapshots(options.anchors()),
    async loadSnapshotChunk({ height }) {
      const group = await options.groupOf(Number(height))
      return group === null ? {} : { chunk: group }
    },
    offerSnapshot(request) {
      const height = options.wantedHeight()
      const result = answerOffer(request, height === null ? null : { height })
      if (result === ResponseOfferSnapshot_Result.ACCEPT && height !== null)
        accepted = { height, appHash: toHex(request.appHash) }
      return { result }
    },
    async applySnapshotChunk({ chunk, index, sender }) {
      assert(accepted !== null, 'no snapshot was accepted')
      const { ACCEPT, RETRY } = ResponseApplySnapshotChunk_Result
      // The engine fetches it again, from another peer.
      if (!isGroupOf(chunk, accepted))
        return { result: RETRY, refetchChunks: [index], rejectSenders: [sender] }
      tip = await options.startLogFrom(chunk, accepted)
      pending = null
      return { result: ACCEPT }
    },
  }

  return {
    tip: () => tip,
    /** Null: this process has seen no block yet that carries votes. */
    lastCommit: () => lastCommit,
    /** The greatest height at which a block has a vote of this address; 0: no vote was seen. */
    voteHeightOf: (address: string) => voteHeights.get(address) ?? 0,
    /** Answers one request. @throws If the application cannot follow: the engine must not continue. */
    async answer(request: Request): Promise<Response> {
      const [kind, asked] = Object.entries(request).find(([, one]) => one !== undefined) ?? []
      const handler = handlers[kind as Kind] as ((asked: unknown) => unknown) | undefined
      if (handler === undefined) throw new Error(`the engine sent the unknown request ${kind}`)
      const answer: DeepPartial<Response> = { [kind as Kind]: await handler(asked) }
      return Response.fromPartial(answer)
    },
  }
}

export type Application = ReturnType<typeof createApplication>

/** The requests of the engine. Votes have no extensions. */
type Kind = Exclude<keyof Request, 'extendVote' | 'verifyVoteExtension'>
type Answer<K extends Kind> = NonNullable<DeepPartial<Response>[K]>
type Handlers = {
  readonly [K in Kind]: (asked: NonNullable<Request[K]>) => Answer<K> | Promise<Answer<K>>
}

/** Members that differ from the genesis would be another network under its name. */
function assertSameNetwork(
  request: NonNullable<Request['initChain']>,
  { genesisHash, validators }: ApplicationOptions,
): void {
  const chainId = chainIdOf(genesisHash)
  if (request.chainId !== chainId)
    throw new Error(`the engine orders ${request.chainId}, and this network is ${chainId}`)
  const asked = request.validators.map(
    ({ pubKey, power }) => `${toHex(pubKey?.ed25519 ?? new Uint8Array())} ${power}`,
  )
  const known = validators.map(({ key }) => `${key} ${VOTING_POWER}`)
  if (asked.sort().join() !== known.sort().join())
    throw new Error('the engine has other validators than the genesis')
}
