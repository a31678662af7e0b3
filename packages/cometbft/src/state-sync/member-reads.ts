/** Asking other members for what their engines know: each at its scan node, which passes it on to its synchronizer. */
import { type ClientTls, type Clock, type KeyPair, type Random, toHex } from '@quorumscan/base'
import { createPeerClient, type Peer } from '@quorumscan/runtime'
import { type EngineAnswer, type EngineRead, openAnswer, signRequest } from './engine-read.ts'

/** The engine's light client waits twice as long. */
const ANSWER_MS_MAX = 4_000
/** A hundred validators, or their votes on a block. */
const ANSWER_BYTES_MAX = 256 * 1024
const NONCE_BYTES = 16

/** Another member, by the name that the genesis has for it. */
export type OtherMember = Peer & {
  /** Of its engine. */
  readonly nodeId: string
}

export function createMemberReads(options: {
  readonly genesisHash: string
  /** Of the own engine. */
  readonly key: KeyPair
  readonly trust: ClientTls | null
  readonly clock: Clock
  readonly random: Random
}) {
  const { genesisHash, key, clock, random } = options
  const client = createPeerClient({ clock, trust: options.trust })
  return {
    /** @throws {Error} If it does not answer, or another process does. */
    async read(member: OtherMember, read: EngineRead, signal: AbortSignal): Promise<EngineAnswer> {
      const nonce = toHex(random.bytes(NONCE_BYTES))
      const nowMicros = clock.nowMicros()
      const to = member.nodeId
      const request = signRequest(read, { to, nowMicros, nonce, genesisHash, key })
      const reply = await client.request(member.url, {
        path: '/v0/engine-reads',
        body: request.bytes,
        bytesMax: ANSWER_BYTES_MAX,
        timeoutMs: ANSWER_MS_MAX,
        channel: 'bulk',
        signal,
      })
      if (reply.status !== 200) throw new Error(`${member.name} answers with ${reply.status}`)
      const answer = openAnswer(reply.body, { from: to, request: request.text, genesisHash })
      if (answer === null) throw new Error(`somebody else answers for ${member.name}`)
      return answer
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

export type MemberReads = ReturnType<typeof createMemberReads>
