/**
 * Reads of other members' engines. A member asks at the other's scan node, which passes the request on to its
 * synchronizer. That one answers for its own engine: it only reads, and a bounded number of things at a time.
 */
import {
  type ClientTls,
  type Clock,
  createShares,
  type KeyPair,
  type Random,
  toHex,
} from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { createPeerClient, type Peer } from '@quorumscan/runtime'
import type { CometbftOrdering } from '@quorumscan/verifier'
import { readStatus } from '../engine-answers.ts'
import { EngineRefusedError, type EngineRpc } from '../engine-rpc.ts'
import {
  type EngineAnswer,
  type EngineRead,
  openAnswer,
  openRequest,
  signAnswer,
  signRequest,
} from './engine-read.ts'
import type { AnchorReport, SyncAnchor } from './sync-anchors.ts'

/** Each costs the engine a millisecond; a light client asks one after the other. Engines share it. */
const CONCURRENT_READS_MAX = 20

export function createReadAnswers(
  options: Omit<Parameters<typeof openRequest>[1], 'nowMicros'> & {
    /** The key of this member's engine. */
    readonly key: KeyPair
    readonly rpc: EngineRpc
    /** Sync anchors of this member. */
    readonly anchors: () => readonly SyncAnchor[]
    readonly clock: Clock
  },
): (request: Uint8Array) => Promise<Uint8Array> {
  const { ownId, isPeer, genesisHash, key, rpc, clock } = options
  const shares = createShares('reads of an engine', { reads: CONCURRENT_READS_MAX })

  const reportAnchors = async (): Promise<AnchorReport> => {
    const { earliest } = readStatus(await rpc.call('status'))
    const named = options.anchors().map(({ height, blockHash }) => ({ height, blockHash }))
    return { earliest, beginnings: named }
  }
  const answer = async ({ method, params }: EngineRead): Promise<EngineAnswer> => {
    try {
      if (method === 'beginnings') return { result: await reportAnchors() }
      return { result: await rpc.call(method, params) }
    } catch (error) {
      if (error instanceof EngineRefusedError) return { refusal: error.message }
      throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the engine is not available', { cause: error })
    }
  }
  return async (bytes) => {
    const nowMicros = clock.nowMicros()
    const { text, read, nodeId } = openRequest(bytes, { ownId, isPeer, nowMicros, genesisHash })
    const release = shares.take(nodeId, { reads: 1 })
    if (release === null) throw new ScanError('OVERLOADED', `too many ${shares.pool}`)
    try {
      return signAnswer(await answer(read), { request: text, genesisHash, key })
    } finally {
      release()
    }
  }
}

/** The engine's light client waits twice as long. */
const ANSWER_MS_MAX = 4_000
/** A hundred validators, or their votes on a block. */
const ANSWER_BYTES_MAX = 256 * 1024
const NONCE_BYTES = 16

/** Another member, and its scan node, by the name that the genesis has for it. */
export type OtherMember = {
  /** Its address is read at each request: the node may move to another one. */
  readonly node: Peer
  /** The id of its engine. */
  readonly nodeId: string
}

/** The other members whose scan nodes are known. @param options.ownId - The id of this member's engine. */
export function otherMembers(
  nodes: readonly Peer[],
  options: { readonly ordering: Pick<CometbftOrdering, 'validators'>; readonly ownId: string },
): readonly OtherMember[] {
  const { ordering, ownId } = options
  return nodes.flatMap((node) => {
    const nodeId = ordering.validators.find(({ name }) => name === node.name)?.nodeId
    return nodeId === undefined || nodeId === ownId ? [] : [{ node, nodeId }]
  })
}

export function createMemberReads(options: {
  readonly genesisHash: string
  /** The key of this member's engine. */
  readonly key: KeyPair
  readonly trust: ClientTls | null
  readonly clock: Clock
  readonly random: Random
}) {
  const { genesisHash, key, clock, random } = options
  const client = createPeerClient({ clock, trust: options.trust })
  return {
    /** @throws {Error} If it does not answer, or another engine does. */
    async read(member: OtherMember, read: EngineRead, signal: AbortSignal): Promise<EngineAnswer> {
      const nonce = toHex(random.bytes(NONCE_BYTES))
      const nowMicros = clock.nowMicros()
      const { node, nodeId: to } = member
      const request = signRequest(read, { to, nowMicros, nonce, genesisHash, key })
      const asked = { path: '/v0/engine-reads', body: request.bytes, channel: 'bulk' } as const
      const bounds = { bytesMax: ANSWER_BYTES_MAX, timeoutMs: ANSWER_MS_MAX, signal }
      const reply = await client.request(node.url, { ...asked, ...bounds })
      if (reply.status !== 200) throw new Error(`${node.name} answers with ${reply.status}`)
      const answer = openAnswer(reply.body, { from: to, request: request.text, genesisHash })
      if (answer === null) throw new Error(`another engine answers for ${node.name}`)
      return answer
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

export type MemberReads = ReturnType<typeof createMemberReads>
