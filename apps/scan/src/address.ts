/**
 * Publishing the node's own address (D-34): a record signed by the scan key, put on the ledger by the
 * operator key, with the next sequence. Readers verify the signature; the ledger keeps the highest.
 */
import { assert, type Clock, type KeyPair, type Random, retry, toHex } from '@quorumscan/base'
import { type Ledger, payloadOf, scanAddress, setScanUrlCommand } from '@quorumscan/ledger'
import type { PartyId } from '@quorumscan/model'
import type { Submitter } from '@quorumscan/submit'
import { encodeAddressStatement } from '@quorumscan/verifier'

/** The ledger takes a change of address every ten seconds only; one that comes too early waits. */
const RETRY_MS_MIN = 200
/** While ordering is away. */
const RETRY_MS_MAX = 10_000
const SUBMIT_TIMEOUT_MS = 10_000
const LIVE_CHECK_MS = 200

export type AddressOptions = {
  readonly ledger: Pick<Ledger, 'contractsByKey'>
  readonly submitter: Pick<Submitter, 'submit'>
  readonly isLive: () => boolean
  readonly genesisHash: string
  readonly nodeName: string
  readonly party: PartyId
  readonly scanKey: KeyPair
  /** Without a trailing slash. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  /** Told of each try that failed. */
  readonly onRetry: (error: unknown) => void
}

/** Returns once the ledger shows the address; tries until then, or until the signal aborts (rejects). */
export async function publishAddress(options: AddressOptions): Promise<void> {
  await retry(() => publishOnce(options), {
    clock: options.clock,
    random: options.random,
    signal: options.signal,
    attemptsMax: Number.POSITIVE_INFINITY,
    delayMsMin: RETRY_MS_MIN,
    delayMsMax: RETRY_MS_MAX,
    isRetryable: (error) => {
      if (!options.signal.aborted) options.onRetry(error)
      return !options.signal.aborted
    },
  })
}

async function publishOnce(options: AddressOptions): Promise<void> {
  const { nodeName, party, url } = options
  // Catching up may take long: no failure, and no reason to wait longer each time.
  while (!options.isLive()) await options.clock.delay(LIVE_CHECK_MS, options.signal)
  const [current] = await options.ledger.contractsByKey(`address:${party}`, { limit: 1 })
  const previous = current === undefined ? null : payloadOf(scanAddress, current)
  if (previous?.url === url) return
  const [dsoRules] = await options.ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
  assert(dsoRules !== undefined, 'the ledger has DsoRules from genesis on')
  const sequence = (previous?.sequence ?? 0) + 1
  const statement = encodeAddressStatement({
    genesisHash: options.genesisHash,
    name: nodeName,
    url,
    sequence,
  })
  const signature = toHex(options.scanKey.sign(statement))
  await options.submitter.submit(
    {
      userId: nodeName,
      actAs: [party],
      commands: [
        setScanUrlCommand({ dsoRules: dsoRules.contractId, sv: party, url, sequence, signature }),
      ],
      // A new record each time: the same address may come back later under a higher sequence.
      commandId: `publish-address-${sequence}`,
    },
    { signal: options.signal, timeoutMs: SUBMIT_TIMEOUT_MS },
  )
}
