/**
 * Publishing the node's own address (D-34): a record signed by the scan key, put on the ledger by the
 * operator key, with the next sequence. Readers verify the signature; the ledger keeps the highest.
 */
import { assert, type KeyPair, retry, toHex } from '@quorumscan/base'
import { type Ledger, payloadOf, scanAddress, setScanUrlCommand } from '@quorumscan/ledger'
import type { PartyId } from '@quorumscan/model'
import type { App } from '@quorumscan/server'
import type { Submitter } from '@quorumscan/submit'
import { encodeAddressStatement } from '@quorumscan/verifier'

/** The ledger takes a change of address every ten seconds only; one that comes too early waits. */
const RETRY_MS_MIN = 200
/** The longest wait, while ordering is down. */
const RETRY_MS_MAX = 10_000
const SUBMIT_TIMEOUT_MS = 10_000
const LIVE_CHECK_MS = 200

type Publisher = Pick<App, 'name' | 'clock' | 'genesisHash' | 'logger' | 'random'> & {
  readonly ledger: Pick<Ledger, 'contractsByKey'>
  readonly submitter: Submitter
  readonly isLive: () => boolean
  readonly party: PartyId
  readonly scanKey: KeyPair
  readonly signal: AbortSignal
}

/**
 * Returns once the ledger shows the address; tries until then, or until the signal aborts (rejects).
 *
 * @param url - Without a trailing slash.
 */
export async function publishAddress(publisher: Publisher, url: string): Promise<void> {
  const { logger, signal } = publisher
  await retry(() => publishOnce(publisher, url), {
    clock: publisher.clock,
    random: publisher.random,
    signal,
    attemptsMax: Number.POSITIVE_INFINITY,
    delayMsMin: RETRY_MS_MIN,
    delayMsMax: RETRY_MS_MAX,
    isRetryable(err) {
      if (!signal.aborted) logger.info({ err }, 'the address is not on the ledger yet')
      return !signal.aborted
    },
  })
  logger.info({ url }, 'the address is on the ledger')
}

async function publishOnce(publisher: Publisher, url: string): Promise<void> {
  const { name, clock, genesisHash, ledger, party, scanKey, signal } = publisher
  // Catching up may take long: no failure, and no reason to wait longer each time.
  while (!publisher.isLive()) await clock.delay(LIVE_CHECK_MS, signal)
  const [current] = await ledger.contractsByKey(`address:${party}`, { limit: 1 })
  const previous = current === undefined ? null : payloadOf(scanAddress, current)
  if (previous?.url === url) return
  const [dsoRules] = await ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
  assert(dsoRules !== undefined, 'the ledger has DsoRules from genesis on')
  const sequence = (previous?.sequence ?? 0) + 1
  const statement = encodeAddressStatement({ genesisHash, name, url, sequence })
  const signature = toHex(scanKey.sign(statement))
  const { contractId } = dsoRules
  const command = setScanUrlCommand({ dsoRules: contractId, sv: party, url, sequence, signature })
  // A new record each time: the same address may come back later under a higher sequence.
  const commandId = `publish-address-${sequence}`
  const input = { userId: name, actAs: [party], commands: [command], commandId }
  await publisher.submitter.submit(input, { signal, timeoutMs: SUBMIT_TIMEOUT_MS })
}
