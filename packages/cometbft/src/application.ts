/**
 * The application that the engine orders blocks for: one function from request to answer. A block is decided
 * (`finalizeBlock`), then published to followers (`commit`); what `info` reports moves with the second step only.
 * Were it to move with the first, an engine that dies in between would ask for an answer that nobody has.
 */
import { assert, fromHex, toHex } from '@quorumscan/base'
import type { EntryRefusal, JudgedEntry } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import { chainIdOf } from '@quorumscan/verifier'
import {
  CheckTxType,
  MisbehaviorType,
  type Request,
  Response,
  type ResponseCheckTx,
  ResponseOfferSnapshot_Result,
  ResponseProcessProposal_ProposalStatus,
} from 'cosmjs-types/tendermint/abci/types'
import {
  type Beginning,
  CHUNK_TAKEN,
  chunkRefused,
  isGroupOf,
  judgeOffer,
  listedSnapshots,
} from './block-snapshots.ts'
import { type BlockGroup, microsOf, orderBlock, type Tip } from './blocks.ts'
import { VOTING_POWER } from './engine-files.ts'
import { type LastCommit, readLastCommit } from './last-commit.ts'
import { type BlockLimits, isAcceptable, selectEntries } from './proposals.ts'
import type { Taking } from './taking.ts'

export type Application = {
  /** Answers one request. @throws If the engine asks for what cannot be: it must not go on. */
  answer(request: Request): Promise<Response>
  tip(): Tip
  /** Null: this process has seen no block yet that carries votes. */
  lastCommit(): LastCommit | null
  /** The greatest height at which a vote of this address stands in a block; 0: none was seen. */
  voteHeightOf(address: string): number
}

export type ApplicationOptions = {
  /** Hex. */
  readonly genesisHash: string
  readonly validators: readonly { readonly key: string }[]
  readonly limits: BlockLimits
  /** The version of the protocol by which the block behind an entry with this record time is judged. */
  readonly blockVersionAt: (recordTime: Micros) => number
  /** Where the log stands. */
  readonly tip: Tip
  readonly judge: (bytes: Uint8Array) => JudgedEntry
  readonly isOrdered: (entryHash: string) => boolean
  /** What the engine keeps and passes on before a block: its transactions are bundles, a block's are entries. */
  readonly taking: Pick<Taking, 'refuse' | 'entriesOf'>
  /** Whether the engine with this id, lower-case hex, may connect. */
  readonly isPeer: (nodeId: string) => boolean
  /** Told of a block that names members that voted twice in one step; resolves when that is not lost any more. */
  readonly onMisbehavior: (height: number) => Promise<void>
  /** Resolves when followers can have the group, however long it takes. */
  readonly publish: (group: BlockGroup, tip: Tip) => Promise<void>
  /** Below this height the engine need not keep its blocks; 0: it keeps all. */
  readonly retainHeight: () => number
  /** Blocks that others may begin with, and what each made; null: it is not there any more. */
  readonly offered: () => readonly Beginning[]
  readonly groupOf: (height: number) => Promise<Uint8Array | null>
  /** The height of the block that the log is to begin with, as the engine has none; null: it has. */
  readonly wantedHeight: () => number | null
  /** Resolves when the log begins with this group, and followers can have it; where it stands then. */
  readonly begin: (group: Uint8Array, block: Beginning) => Promise<Tip>
}

const APP_VERSION = 1n
const REFUSED = 1
const PEER_BY_ADDRESS = '/p2p/filter/addr/'
const PEER_BY_ID = '/p2p/filter/id/'

export function createApplication(options: ApplicationOptions): Application {
  const { judge, limits } = options
  let { tip } = options
  /** Decided, and not published: the engine says `commit` next, or repeats the block. */
  let pending: { readonly group: BlockGroup; readonly tip: Tip } | null = null
  const version = () => options.blockVersionAt(tip.recordTime)
  let lastCommit: LastCommit | null = null
  const voteHeights = new Map<string, number>()
  /** The snapshot that the engine was told to take. */
  let accepted: Beginning | null = null

  return {
    tip: () => tip,
    lastCommit: () => lastCommit,
    voteHeightOf: (address) => voteHeights.get(address) ?? 0,
    async answer(request) {
      if (request.info !== undefined) {
        // Another engine, or the same after a restart: what was not committed will be repeated.
        pending = null
        return Response.fromPartial({
          info: {
            data: 'quorumscan',
            appVersion: APP_VERSION,
            lastBlockHeight: BigInt(tip.height),
            lastBlockAppHash: fromHex(tip.appHash),
          },
        })
      }
      if (request.initChain !== undefined) {
        assertSameNetwork(request.initChain, options)
        return Response.fromPartial({ initChain: { appHash: fromHex(tip.appHash) } })
      }
      if (request.checkTx !== undefined) {
        const { tx, type } = request.checkTx
        return Response.fromPartial({
          checkTx: checked(options.taking.refuse(tx, type === CheckTxType.RECHECK)),
        })
      }
      if (request.prepareProposal !== undefined) {
        const { txs, time, maxTxBytes } = request.prepareProposal
        return Response.fromPartial({
          prepareProposal: {
            txs: selectEntries({
              tip,
              version: version(),
              timeMicros: microsOf(time),
              entries: options.taking.entriesOf(txs),
              limits,
              judge,
              wireBytesMax: Number(maxTxBytes),
              isOrdered: options.isOrdered,
            }),
          },
        })
      }
      if (request.processProposal !== undefined) {
        const { txs, time } = request.processProposal
        const isGood = isAcceptable({
          tip,
          version: version(),
          timeMicros: microsOf(time),
          entries: txs,
          limits,
          judge,
        })
        const { ACCEPT, REJECT } = ResponseProcessProposal_ProposalStatus
        return Response.fromPartial({ processProposal: { status: isGood ? ACCEPT : REJECT } })
      }
      if (request.finalizeBlock !== undefined) {
        const { height, misbehavior, time, txs, decidedLastCommit } = request.finalizeBlock
        if (decidedLastCommit !== undefined) {
          lastCommit = readLastCommit(decidedLastCommit)
          // The votes that a block carries are on the one before.
          for (const address of lastCommit.present) voteHeights.set(address, Number(height) - 1)
        }
        if (misbehavior.some(({ type }) => type === MisbehaviorType.DUPLICATE_VOTE))
          await options.onMisbehavior(Number(height))
        pending = orderBlock(tip, {
          height: Number(height),
          timeMicros: microsOf(time),
          entries: txs,
        })
        return Response.fromPartial({
          finalizeBlock: {
            txResults: txs.map(() => ({})),
            appHash: fromHex(pending.tip.appHash),
          },
        })
      }
      if (request.commit !== undefined) {
        assert(pending !== null, 'nothing was decided that could be committed')
        const decided = pending
        await options.publish(decided.group, decided.tip)
        // An engine that died meanwhile was followed by one that may have repeated the block, or gone on.
        if (decided.tip.height > tip.height) tip = decided.tip
        if (pending === decided) pending = null
        return Response.fromPartial({ commit: { retainHeight: BigInt(options.retainHeight()) } })
      }
      if (request.query !== undefined) {
        const isAllowed = answersQuery(request.query.path, options.isPeer)
        return Response.fromPartial({ query: { code: isAllowed ? 0 : REFUSED } })
      }
      if (request.listSnapshots !== undefined)
        return Response.fromPartial({ listSnapshots: listedSnapshots(options.offered()) })
      if (request.loadSnapshotChunk !== undefined) {
        const group = await options.groupOf(Number(request.loadSnapshotChunk.height))
        return Response.fromPartial({ loadSnapshotChunk: group === null ? {} : { chunk: group } })
      }
      if (request.offerSnapshot !== undefined) {
        const height = options.wantedHeight()
        const result = judgeOffer(request.offerSnapshot, height === null ? null : { height })
        if (result === ResponseOfferSnapshot_Result.ACCEPT && height !== null)
          accepted = { height, appHash: toHex(request.offerSnapshot.appHash) }
        return Response.fromPartial({ offerSnapshot: { result } })
      }
      if (request.applySnapshotChunk !== undefined) {
        const { applySnapshotChunk } = request
        assert(accepted !== null, 'no snapshot was accepted')
        if (!isGroupOf(applySnapshotChunk.chunk, accepted))
          return Response.fromPartial({ applySnapshotChunk: chunkRefused(applySnapshotChunk) })
        tip = await options.begin(applySnapshotChunk.chunk, accepted)
        pending = null
        return Response.fromPartial({ applySnapshotChunk: CHUNK_TAKEN })
      }
      return answerWithoutState(request)
    },
  }
}

/** What asks for nothing of ours: pings, and the vote extensions that we do not have. */
function answerWithoutState(request: Request): Response {
  if (request.echo !== undefined)
    return Response.fromPartial({ echo: { message: request.echo.message } })
  if (request.flush !== undefined) return Response.fromPartial({ flush: {} })
  throw new Error(`the engine asks for ${JSON.stringify(Object.keys(request))}`)
}

/** The engine asks by address, which says nothing here, then by the id that the peer has proven to have. */
function answersQuery(path: string, isPeer: ApplicationOptions['isPeer']): boolean {
  if (path.startsWith(PEER_BY_ADDRESS)) return true
  return path.startsWith(PEER_BY_ID) && isPeer(path.slice(PEER_BY_ID.length))
}

function checked(refusal: EntryRefusal | null): Partial<ResponseCheckTx> {
  if (refusal === null) return {}
  return { code: REFUSED, codespace: refusal.code, log: refusal.message }
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
