/**
 * Asks nodes what an entry would do, before it is admitted: an entry that every replica would refuse would stay in the log
 * without an effect, and what one adds to the state is charged to its sender. A node's answer counts if it has applied what
 * the log had when the entry came. What is not known in time is admitted. Asks them again what it did, once it is in the log.
 */
import { type Clock, createShares, createTurns, fromUtf8, withTimeout } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { EntryRefusal } from '@quorumscan/log'
import { isOffset, type LogPosition } from '@quorumscan/model'
import type { Peer, PeerClient, PeerEndpoint } from '@quorumscan/runtime'

/** Ten times what a usual dry run takes, with its request; and the pause until a node has applied the newest entry. */
const BEFORE = { msMax: 50, againMs: 5, againMsMax: 5, isPatient: false }
/**
 * Entries that are judged at once. The others wait for their turn, which does not count towards their time: of a burst that
 * is judged all at once, none would be judged in time.
 */
const AT_ONCE_MAX = 8
/** `AT_ONCE_MAX` at a time and 50 ms each: the last one waits for 2.5 s. */
const WAITING_MAX = 400
/** Nodes beyond those that are needed are asked when one of these has said something else, or nothing for so long. */
const HEDGE_MS = 15
/**
 * For an entry that is in the log. No submission waits for this judgement, so that a slow machine or a node that restarts
 * saves its sender nothing.
 */
const AFTER = { msMax: 60_000, againMs: 500, againMsMax: 8_000, isPatient: true }
/** Entries in the log that wait for their judgement, and their bytes: with fast nodes, a few. */
const AFTER_MAX = { entries: 2000, bytes: 32 * 1024 * 1024 }
const REQUEST_MS_MAX = 5_000
/** A refusal is a sentence. */
const ANSWER_BYTES_MAX = 16_384

export type StateJudge = ReturnType<typeof createStateJudge>

/** Disposing ends the judgements of entries that are in the log, at once. */
export function createStateJudge(options: {
  /** A member asks its own node; one synchronizer all nodes. Nobody is asked without nodes. */
  readonly nodes: readonly Peer[]
  /** So many nodes must refuse the entry: 1 of its own, f + 1 of all, so that f liars refuse nothing. */
  readonly needed: number
  readonly endpointsOf: (peer: Peer) => readonly PeerEndpoint[]
  readonly client: Pick<PeerClient, 'request'>
  /** The newest entry that the log has. */
  readonly head: () => Pick<LogPosition, 'offset'>
  readonly clock: Clock
}) {
  const { nodes, needed, client, clock } = options
  const turns = createTurns<() => void>('entries that wait for a judgement')
  const waiting = createShares('entries that wait for a judgement', { entries: WAITING_MAX })
  const inLog = createShares('entries in the log that wait for a judgement', AFTER_MAX)
  const closing = new AbortController()
  let judgedCount = 0
  /** Rotates, so that all nodes have the same work. */
  let firstNode = 0

  /** Runs one of `AT_ONCE_MAX` at a time, in turns of the owners. @throws {ScanError} RATE_LIMITED if too many wait. */
  const inTurn = async <T>(owner: string, judge: () => Promise<T>): Promise<T> => {
    const giveBack = waiting.take(owner, { entries: 1 })
    if (giveBack === null)
      throw new ScanError('RATE_LIMITED', `too many ${waiting.pool}`, { retryAfterSeconds: 1 })
    if (judgedCount < AT_ONCE_MAX) judgedCount++
    // The one that ends passes its place on.
    else await new Promise<void>((resolve) => turns.push(owner, resolve))
    try {
      return await judge()
    } finally {
      giveBack()
      const next = turns.shift()
      if (next === undefined) judgedCount--
      else next()
    }
  }

  /** What the node says about the entry now. @throws If it fails. */
  const askOnce = async (node: Peer, { bytes, msMax }: Asked, signal: AbortSignal) => {
    const [{ url, isPublicOnly } = { url: node.url, isPublicOnly: false }] =
      options.endpointsOf(node)
    const reply = await client.request(url, {
      path: '/v0/entry-judgements',
      body: bytes,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: Math.min(msMax, REQUEST_MS_MAX),
      isPublicOnly,
      signal,
    })
    const answer: unknown = reply.status === 200 ? JSON.parse(fromUtf8(reply.body)) : null
    if (!isJudgement(answer)) throw new Error('no judgement')
    return answer
  }

  /** The same, once it has applied the offset. @throws If it fails, unless the caller is patient. */
  const ask = async (node: Peer, asked: Asked, signal: AbortSignal): Promise<NodeJudgement> => {
    const { offset, againMsMax, isPatient } = asked
    for (let pauseMs = asked.againMs; ; pauseMs = Math.min(2 * pauseMs, againMsMax)) {
      const answer = await askOnce(node, asked, signal).catch((error: unknown) => {
        if (!isPatient) throw error
        return null
      })
      if (answer !== null && answer.offset >= offset) return answer
      await clock.delay(pauseMs, signal)
    }
  }

  /**
   * What nodes say, until it is known whether enough of them refuse the entry; none if that takes too long.
   *
   * @throws The signal's reason.
   */
  const askAll = (
    asked: Asked,
    isRefusedIn: (judgement: NodeJudgement) => boolean,
    ending?: AbortSignal,
  ): Promise<readonly NodeJudgement[]> => {
    const at = firstNode++ % Math.max(1, nodes.length)
    const inOrder = [...nodes.slice(at), ...nodes.slice(0, at)]
    const judge = (signal: AbortSignal) =>
      new Promise<readonly NodeJudgement[]>((resolve) => {
        const judgements: NodeJudgement[] = []
        let left = nodes.length
        const askNext = (nodesMax: number): void => {
          for (const node of inOrder.splice(0, nodesMax))
            ask(node, asked, signal).then(count, () => count(null))
        }
        const askRest = () => askNext(inOrder.length)
        const count = (judgement: NodeJudgement | null): void => {
          left--
          if (judgement !== null) judgements.push(judgement)
          const refused = judgements.filter(isRefusedIn).length
          if (refused >= needed || refused + left < needed) resolve(judgements)
          else if (judgement === null || !isRefusedIn(judgement)) askRest()
        }
        if (left < needed) resolve(judgements)
        askNext(needed)
        clock.delay(HEDGE_MS, signal).then(askRest, () => {}) // Aborted: it is decided.
      })
    return withTimeout(
      { clock, timeoutMs: asked.msMax, ...(ending && { signal: ending }) },
      judge,
      () => [],
    )
  }

  return {
    /**
     * What the nodes say about the entry, after what is in the log.
     *
     * @param owner - The sender: senders take turns.
     * @throws {ScanError} RATE_LIMITED if too many entries wait for a judgement.
     */
    async before(bytes: Uint8Array, owner: string): Promise<StateJudgement> {
      const isRefused = ({ refusal }: NodeJudgement) => refusal !== null
      const judgements = await inTurn(owner, () =>
        askAll({ bytes, offset: options.head().offset, ...BEFORE }, isRefused),
      )
      const reasons = judgements.flatMap(({ refusal }) => (refusal === null ? [] : [refusal]))
      // Of the `needed` that say the most, one tells the truth: the least of them overstates nothing.
      const growths = judgements.map(({ growth }) => growth).sort((a, b) => b - a)
      return {
        refusal:
          reasons.length < needed
            ? null
            : {
                code: 'INVALID_ARGUMENT',
                message: `every replica would refuse this entry now: ${reasons.at(-1)}`,
              },
        growth: growths[needed - 1] ?? null,
        isLate: nodes.length >= needed && judgements.length < needed,
      }
    },
    /**
     * Whether the state has refused the entry, which is in the log; false if that is not known. True if too many of its
     * sender wait for this judgement: who outruns the nodes pays for the bytes.
     *
     * @param owner - As of `before`.
     */
    async wasRefused(bytes: Uint8Array, owner: string): Promise<boolean> {
      const giveBack = inLog.take(owner, { entries: 1, bytes: bytes.byteLength })
      if (giveBack === null) return true
      const { offset } = options.head()
      const wasRefusedIn = ({ refusal, is_applied }: NodeJudgement) =>
        is_applied === true && refusal !== null
      try {
        closing.signal.throwIfAborted()
        const judgements = await askAll({ bytes, offset, ...AFTER }, wasRefusedIn, closing.signal)
        return judgements.filter(wasRefusedIn).length >= needed
      } catch (error) {
        if (!closing.signal.aborted) throw error
        return false
      } finally {
        giveBack()
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort()
    },
  }
}

type Asked = (typeof BEFORE | typeof AFTER) & {
  readonly bytes: Uint8Array
  readonly offset: number
}

export type StateJudgement = {
  /** Why the nodes refuse the entry; null: they do not, or that is not known. */
  readonly refusal: EntryRefusal | null
  /** Bytes that the entry adds to the state; null if that is not known. */
  readonly growth: number | null
  /** Whether too few nodes have answered in time. */
  readonly isLate: boolean
}

type NodeJudgement = {
  readonly offset: number
  readonly refusal: string | null
  readonly growth: number
  readonly is_applied?: unknown
}

/** Whether a node answered with a judgement. */
function isJudgement(answer: unknown): answer is NodeJudgement {
  if (typeof answer !== 'object' || answer === null) return false
  const { offset, refusal, growth }: { offset?: unknown; refusal?: unknown; growth?: unknown } =
    answer
  return (
    isOffset(offset) &&
    (refusal === null || typeof refusal === 'string') &&
    Number.isSafeInteger(growth)
  )
}
