/**
 * Makes certificates. The process signs the states that the local replica computed, reads the statements of each member by
 * one long poll, and `step` of the collection combines them. Members push nothing, so that no member can flood a
 * process with statements.
 */
import { EventEmitter, once } from 'node:events'
import { type Clock, held, linkedController, withTimeout } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type StateReads, stateDiverged } from '@quorumscan/replica'
import type { Logger, Metrics, Peer, PeerClient, PeerEndpoint } from '@quorumscan/runtime'
import type { WaitingRequest } from '@quorumscan/server'
import {
  createPlatformCrypto,
  type Evidence,
  encodeStateStatement,
  type Genesis,
  memberSetOf,
} from '@quorumscan/verifier'
import {
  type Certificate,
  type Collection,
  type CollectionEffect,
  type CollectionEvent,
  certificateAt,
  createCollection,
  type Divergence,
  newestCertificate,
  type SignedState,
  signersOf,
  statesAfter,
  step,
} from '@quorumscan/verifier/certified'
import { createMemberProgress } from './member-progress.ts'
import { pollStatements, STATEMENTS_WAIT_MS } from './statement-polls.ts'

export type Certifier = ReturnType<typeof createCertifier>

/** Begins to poll at once. */
export function createCertifier(options: {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Member whose scan key the process has; null: a validator, which signs nothing. */
  readonly self: { readonly name: string; sign(statement: Uint8Array): string } | null
  /** All are polled, since the health of each is judged by what it signs. */
  readonly peers: readonly Peer[]
  /** The names of peers whose statements make certificates. Default: all. */
  readonly signers?: ReadonlySet<string>
  /** The addresses of a peer, the most likely one first. Default: the configured one. */
  readonly endpointsOf?: (peer: Peer) => readonly PeerEndpoint[]
  readonly replica: Pick<StateReads, 'statePoints' | 'onStatePoint' | 'diverged'>
  readonly client: PeerClient
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Receives the evidence that a member equivocated. Default: logged. */
  readonly onEvidence?: (evidence: Evidence) => void
}) {
  const { genesis, genesisHash, self, replica, clock, logger, signers = null } = options
  const {
    onEvidence = (evidence) => logger.error({ evidence }, `${evidence.signer} equivocates`),
    endpointsOf = ({ url }) => [{ url, isPublicOnly: false }],
  } = options
  const network = { genesis, genesisHash }
  const collection: Collection = createCollection(network, self?.name ?? null)
  /** The statements of all members, also of those that make no certificates here. */
  const statements: Collection = createCollection(network, null)
  const set = memberSetOf(genesis)
  const names = set.members.map(({ name }) => name)
  const needed = set.f + 1
  const progress = createMemberProgress({ names, needed, clock })
  const closing = new AbortController()
  /** Emits `change` after each event of the collection. */
  const changes = held(
    {
      owner: 'certifier',
      name: 'watches of certificates',
      kind: 'work',
      bound: 'the pool of long polls',
    },
    new EventEmitter().setMaxListeners(0),
    countWatches,
  )
  /** The newest certificate by the number of signers: a cache, cleared at each change. */
  const newestBySigners = held(
    {
      owner: 'certifier',
      name: 'newest certificates',
      kind: 'cache',
      bound: 'one of each number of signers',
    },
    new Map<number, Certificate | null>(),
  )

  const apply = (event: CollectionEvent): void => {
    newestBySigners.clear()
    for (const effect of step(collection, event)) perform(effect)
    changes.emit('change')
  }

  const addStatement = (state: SignedState): void => {
    step(statements, { kind: 'signed', state })
    progress.note(state, signersOf(statements, state))
    if (state.member === self?.name || signers?.has(state.member) !== false)
      apply({ kind: 'signed', state })
  }

  const perform = (effect: CollectionEffect): void => {
    if (effect.kind === 'sign' && self !== null) {
      const signature = self.sign(encodeStateStatement({ ...effect.point, genesisHash }))
      addStatement({ ...effect.point, member: self.name, signature })
    } else if (effect.kind === 'evidence') {
      onEvidence(effect.evidence)
    } else if (effect.kind === 'diverged')
      logger.fatal({ divergence: effect.divergence }, describe(effect.divergence))
  }

  apply({ kind: 'computed', points: replica.statePoints() })
  const subscription = replica.onStatePoint((point) => apply({ kind: 'computed', points: [point] }))
  const polls = {
    ...options,
    endpointsOf,
    collection: statements,
    crypto: createPlatformCrypto(),
    addStatement,
  }
  const polling = options.peers
    .filter(({ name }) => memberSetOf(genesis).members.some((node) => node.name === name))
    .map((member) => pollStatements(member, polls))

  const newest = (signerCount: number): Certificate | null => {
    const known = newestBySigners.get(signerCount)
    if (known !== undefined) return known
    const found = newestCertificate(collection, signerCount)
    newestBySigners.set(signerCount, found)
    return found
  }

  /** Resolves with the result of `find` once it is not null; calls it at every change. */
  const untilFound = async <Found, Late>(
    find: () => Found | null,
    { waitMs, request }: { readonly waitMs: number; readonly request: WaitingRequest },
    late: () => Late,
  ): Promise<Found | Late> => {
    const found = find()
    if (found !== null) return found
    if (waitMs === 0) return late()
    const look = async (signal: AbortSignal): Promise<Found> => {
      for (;;) {
        await once(changes, 'change', { signal })
        const foundNow = find()
        if (foundNow !== null) return foundNow
      }
    }
    const ending = linkedController(request.signal, closing.signal)
    const { signal } = ending
    return request
      .waiting(() => withTimeout({ clock, timeoutMs: waitMs, signal }, look, late))
      .finally(() => ending.abort())
  }

  /** A statement has the form of a certificate with one signature. */
  const toCertificate = ({ member, signature, ...point }: SignedState): Certificate => ({
    ...point,
    genesisHash,
    signatures: [[member, signature]],
  })

  options.metrics.sampled('gauge', {
    name: 'certified_offset',
    help: 'Newest offset with a certificate of f + 1 members.',
    read: () => {
      const certificate = newest(0)
      return certificate === null ? [] : [[[], certificate.offset]]
    },
  })

  /** @throws {ScanError} LOG_FORK, STATE_DIVERGED: the state of the replica must not be proven. */
  const assertNotDiverged = (): void => {
    const { divergence } = collection
    if (divergence !== null) throw new ScanError(divergence.code, describe(divergence))
    const damage = replica.diverged()
    if (damage !== null) throw stateDiverged(damage)
  }

  return {
    /** The newest certificate with that many signers; null: no such certificate exists, or the replica has diverged. */
    newest: (signerCount: number) => (replica.diverged() === null ? newest(signerCount) : null),
    /** At one of the last certifiable offsets. */
    at: (offset: number) => certificateAt(collection, offset),
    assertNotDiverged,
    /** Whether `assertNotDiverged` throws. */
    isDiverged: (): boolean => collection.divergence !== null || replica.diverged() !== null,
    /** How far each member has proven that it follows the log. */
    progress,
    /**
     * The newest certificate with that many signers, at the offset or after it.
     *
     * @throws {ScanError} NO_CERTIFICATE if none is found within `waitMs`; LOG_FORK, STATE_DIVERGED.
     */
    certified(wanted: {
      readonly signerCount: number
      readonly minOffset: number
      readonly waitMs: number
      readonly request: WaitingRequest
    }): Promise<Certificate> {
      const { signerCount, minOffset } = wanted
      const find = () => {
        assertNotDiverged()
        const certificate = newest(signerCount)
        return certificate !== null && certificate.offset >= minOffset ? certificate : null
      }
      return untilFound(find, wanted, () => {
        throw new ScanError(
          'NO_CERTIFICATE',
          `no certificate of ${signerCount} members at offset ${minOffset} or after it`,
          { retryAfterSeconds: 1 },
        )
      })
    },
    /** The statements of this process after an offset, ascending; waits for one as long as a poll may. */
    ownAfter(offset: number, request: WaitingRequest): Promise<readonly Certificate[]> {
      const find = () => {
        const states = self === null ? [] : statesAfter(collection, self.name, offset)
        return states.length === 0 ? null : states.map(toCertificate)
      }
      return untilFound(find, { waitMs: STATEMENTS_WAIT_MS, request }, () => [])
    },
    async [Symbol.asyncDispose](): Promise<void> {
      subscription[Symbol.dispose]()
      // A caller that still waits for a state receives this.
      closing.abort(new ScanError('NOT_READY', 'the process is stopping'))
      await Promise.all(polling.map((one) => one[Symbol.asyncDispose]()))
    },
  }
}

function describe({ code, own, others }: Divergence): string {
  const names = others.signatures.map(([name]) => name).join(', ')
  return code === 'LOG_FORK'
    ? `at offset ${own.offset} this node applied another history than ${names} signed. It followed a different log`
    : `at offset ${own.offset} this node has another state than ${names} signed. Wipe its replica`
}

/** As `sizeOf` of `held`. */
function countWatches(changes: EventEmitter): number {
  return changes.listenerCount('change')
}
