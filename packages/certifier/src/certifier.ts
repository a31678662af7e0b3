/**
 * How a process comes to certificates: what its own replica computed is signed, what each member signed is
 * pulled by one long poll, and `step` of the collection puts them together. Nothing is pushed, so nobody can
 * flood a process with statements.
 */
import { EventEmitter, once } from 'node:events'
import { anySignal, type ClientTls, type Clock, within } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Logger, Metrics, Peer } from '@quorumscan/runtime'
import { createUndiciTransport } from '@quorumscan/runtime'
import type { WaitingRequest } from '@quorumscan/server'
import {
  createWebCrypto,
  type Evidence,
  encodeStateStatement,
  type Genesis,
  type StatePoint,
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
  statesAfter,
  step,
} from '@quorumscan/verifier/certified'
import { STATEMENTS_WAIT_MS } from './poll-pace.ts'
import { pollStatements } from './statement-polls.ts'

/** The part of a replica that is certified. */
export type CertifiedReplica = {
  statePoints(): readonly StatePoint[]
  onStatePoint(listener: (point: StatePoint) => void): Disposable
  diverged(): { readonly what: string } | null
}

export type Certifier = AsyncDisposable & {
  /** The newest certificate with that many signers; null: there is none, or the replica is not to be believed. */
  newest(signerCount: number): Certificate | null
  /** At one of the last certifiable offsets. */
  at(offset: number): Certificate | null
  /**
   * The newest certificate with that many signers, at the offset or behind it.
   *
   * @throws {ScanError} NO_CERTIFICATE if there is none within `waitMs`; LOG_FORK, STATE_DIVERGED.
   */
  certified(wanted: {
    readonly signerCount: number
    readonly minOffset: number
    readonly waitMs: number
    readonly request: WaitingRequest
  }): Promise<Certificate>
  /** What the own key signed after an offset, ascending; waits for it as long as a poll may. */
  ownAfter(offset: number, request: WaitingRequest): Promise<readonly Certificate[]>
  /** @throws {ScanError} LOG_FORK, STATE_DIVERGED: nothing that the replica holds is to be proven. */
  assertAgrees(): void
}

/** Begins to pull at once. */
export function createCertifier(options: {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Member whose scan key the process has; null: a validator, which signs nothing. */
  readonly self: { readonly name: string; sign(statement: Uint8Array): string } | null
  readonly peers: readonly Peer[]
  readonly replica: CertifiedReplica
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Which certificates of peers it takes. */
  readonly trust?: ClientTls | null
  /** A member contradicts itself. Default: logged. */
  readonly onEvidence?: (evidence: Evidence) => void
}): Certifier {
  const { genesis, genesisHash, self, replica, clock, logger } = options
  const {
    onEvidence = (evidence) => logger.error({ evidence }, `${evidence.signer} contradicts itself`),
  } = options
  const collection: Collection = createCollection({ genesis, genesisHash }, self?.name ?? null)
  const transport = createUndiciTransport({ trust: options.trust ?? null })
  const closing = new AbortController()
  /** Tells of whatever was new to the collection. */
  const changes = new EventEmitter().setMaxListeners(0)
  /** By the count of signers, since the last change: every certified read asks. */
  const newestBySigners = new Map<number, Certificate | null>()

  const take = (event: CollectionEvent): void => {
    newestBySigners.clear()
    for (const effect of step(collection, event)) perform(effect)
    changes.emit('change')
  }

  const perform = (effect: CollectionEffect): void => {
    if (effect.kind === 'sign' && self !== null) {
      const signature = self.sign(encodeStateStatement({ ...effect.point, genesisHash }))
      take({ kind: 'signed', state: { ...effect.point, member: self.name, signature } })
    } else if (effect.kind === 'evidence') {
      onEvidence(effect.evidence)
    } else if (effect.kind === 'diverged')
      logger.fatal({ divergence: effect.divergence }, describe(effect.divergence))
  }

  take({ kind: 'computed', points: replica.statePoints() })
  const subscription = replica.onStatePoint((point) => take({ kind: 'computed', points: [point] }))
  const isMember = (name: string) => genesis.nodes.some((node) => node.name === name)
  const polls = {
    ...{ collection, crypto: createWebCrypto(), transport, clock, logger, signal: closing.signal },
    take: (state: SignedState) => take({ kind: 'signed', state }),
  }
  const following = Promise.all(
    options.peers
      .filter(({ name }) => isMember(name))
      .map((member) => pollStatements(member, polls)),
  )

  const newest = (signerCount: number): Certificate | null => {
    const known = newestBySigners.get(signerCount)
    if (known !== undefined) return known
    const found = newestCertificate(collection, signerCount)
    newestBySigners.set(signerCount, found)
    return found
  }

  const certifier: Certifier = {
    newest: (signerCount) => (replica.diverged() === null ? newest(signerCount) : null),
    at: (offset) => certificateAt(collection, offset),
    assertAgrees() {
      const { divergence } = collection
      if (divergence !== null) throw new ScanError(divergence.code, describe(divergence))
      const damage = replica.diverged()
      if (damage !== null) throw new ScanError('STATE_DIVERGED', damage.what)
    },
    certified({ signerCount, minOffset, waitMs, request }) {
      const find = () => {
        certifier.assertAgrees()
        const certificate = newest(signerCount)
        return certificate !== null && certificate.offset >= minOffset ? certificate : null
      }
      return untilFound(find, { waitMs, request }, () => {
        throw new ScanError(
          'NO_CERTIFICATE',
          `no certificate of ${signerCount} members at offset ${minOffset} or behind it`,
          { retryAfterSeconds: 1 },
        )
      })
    },
    ownAfter(offset, request) {
      const find = () => {
        const states = self === null ? [] : statesAfter(collection, self.name, offset)
        return states.length === 0 ? null : states.map(toStatement)
      }
      return untilFound(find, { waitMs: STATEMENTS_WAIT_MS, request }, () => [])
    },
    async [Symbol.asyncDispose]() {
      subscription[Symbol.dispose]()
      // Whoever still waits for a state is told so.
      closing.abort(new ScanError('NOT_READY', 'the process is stopping'))
      await following
      await transport[Symbol.asyncDispose]()
    },
  }

  /** What `find` gives once that is not null; looks again at every change. */
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
    const signal = anySignal([request.signal, closing.signal])
    return request.waiting(() => within({ clock, timeoutMs: waitMs, signal }, look, late))
  }

  const toStatement = ({ member, signature, ...point }: SignedState): Certificate => ({
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
  return certifier
}

function describe({ code, own, others }: Divergence): string {
  const names = others.signatures.map(([name]) => name).join(', ')
  return code === 'LOG_FORK'
    ? `at offset ${own.offset} this node applied another history than ${names} signed: it read another log`
    : `at offset ${own.offset} this node holds another state than ${names} signed: wipe its replica`
}
