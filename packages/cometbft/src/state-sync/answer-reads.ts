/** Answers what other members ask of the own engine. It only reads, and no more than some things at a time. */
import type { Clock, KeyPair } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { EngineRefusedError, type EngineRpc, readBlockRange } from '../engine-rpc.ts'
import type { Beginnings, NamedBlock } from './beginnings.ts'
import { type EngineAnswer, type EngineRead, openRequest, signAnswer } from './engine-read.ts'

/** Each costs the engine a millisecond; a light client asks one after the other. */
const UNDER_WAY_MAX = 16

export function createReadAnswers(options: {
  readonly genesisHash: string
  readonly key: KeyPair
  readonly ownId: string
  readonly isPeer: (nodeId: string) => boolean
  readonly rpc: EngineRpc
  /** Blocks that others may begin with. */
  readonly offered: () => readonly NamedBlock[]
  readonly clock: Clock
}): (request: Uint8Array) => Promise<Uint8Array> {
  const { rpc, clock } = options
  let underWay = 0

  const beginnings = async (): Promise<Beginnings> => {
    const { earliest } = readBlockRange(await rpc.call('status'))
    const named = options.offered().map(({ height, blockHash }) => ({ height, blockHash }))
    return { earliest, beginnings: named }
  }
  const answer = async ({ method, params }: EngineRead): Promise<EngineAnswer> => {
    try {
      if (method === 'beginnings') return { result: await beginnings() }
      return { result: await rpc.call(method, params) }
    } catch (error) {
      if (error instanceof EngineRefusedError) return { refusal: error.message }
      throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the engine is not available', { cause: error })
    }
  }
  return async (bytes) => {
    const { text, read } = openRequest(bytes, { ...options, nowMicros: clock.nowMicros() })
    if (underWay >= UNDER_WAY_MAX)
      throw new ScanError('OVERLOADED', `the engine is asked ${UNDER_WAY_MAX} things already`)
    underWay++
    try {
      return signAnswer(await answer(read), { ...options, request: text })
    } finally {
      underWay--
    }
  }
}
