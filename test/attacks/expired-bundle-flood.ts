/** A Byzantine super-validator's engine sends signed, expired entries as fast as it can. */
import {
  concatBytes,
  createKeyPair,
  createSystemClock,
  fromHex,
  type KeyPair,
  median,
  sha256,
  utf8,
} from '@quorumscan/base'
import { createSigner, ownKey } from '../support/network.ts'
import { createEntries, openSynchronizers, signAllocation } from '../support/synchronizers.ts'
import type { Attack } from './attack.ts'
import { takeOverEngine } from './byzantine-engine.ts'

const NODE = 'sv-4'
const SLOWER_MAX = 3
/** More distinct entries than a synchronizer caches verdicts for. */
const BUNDLES = 200
const ENTRIES_PER_BUNDLE = 64
const EXPIRED_MICROS = 60_000_000
/** Lifetime in the header of a bundle: a false `notAfter`, as its entries have expired. */
const LIFETIME_MICROS = 300_000_000
/** A submission that is not ordered within this time counts as 10 s. */
const ORDER_TIMEOUT_MS = 10_000
/** Time until queues are full. */
const WARM_UP_MS = 5_000

const clock = createSystemClock()

export const expiredBundleFlood: Attack = {
  name: 'expired-bundle-flood',
  ordering: 'cometbft',
  // The attacker's engine runs on the same processors as the members that it slows down. Tests in packages/cometbft (of
  // bundle checks and of the ABCI server) count the work of a member for such a bundle on any machine.
  needsOwnCluster: true,
  claim:
    'One super-validator of four can make its engine pass bundles of 64 signed, expired entries to the others without ' +
    'pause. Submissions to the others are ordered in at most three times the usual time.',
  async run({ cluster }) {
    const rounds = 15
    const { genesisHash } = await createSigner(cluster)
    const honest = (await openSynchronizers(cluster)).filter(({ name }) => name !== NODE)
    const nextEntry = await createEntries(cluster)
    const measure = async (): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        const startedMs = clock.monotonicMs()
        const timeout = clock.delay(ORDER_TIMEOUT_MS)
        await Promise.race([honest[round % honest.length]?.order(nextEntry()), timeout])
        times.push(clock.monotonicMs() - startedMs)
      }
      return median(times)
    }
    const heights = async () =>
      (await cluster.status()).members.map(({ ordering }) => ordering?.height ?? 0)

    const key = createKeyPair()
    const bundles = Array.from({ length: BUNDLES }, (_, bundle) =>
      bundleOf(
        Array.from({ length: ENTRIES_PER_BUNDLE }, (_, entry) =>
          signAllocation(key, {
            genesisHash,
            index: bundle * ENTRIES_PER_BUNDLE + entry,
            notAfter: clock.nowMicros() - EXPIRED_MICROS,
          }),
        ),
      ),
    )
    const own = await ownKey(cluster, `${NODE}.engine`)
    const signed = bundles.map((bundle) => signedBundle(bundle, genesisHash, own))
    await using engine = await takeOverEngine(cluster, NODE)
    await measure()
    const usualMs = await measure()
    const stopping = new AbortController()
    const flooding = engine.flood([...signed, ...bundles], stopping.signal)
    await clock.delay(WARM_UP_MS)
    const before = Math.max(...(await heights()))
    const startedMs = clock.monotonicMs()
    const attackedMs = await measure()
    const seconds = (clock.monotonicMs() - startedMs) / 1000
    const blocks = Math.max(...(await heights())) - before
    stopping.abort()
    const sent = await flooding
    for (const one of honest) await one[Symbol.asyncDispose]()
    const slower = attackedMs / usualMs
    return {
      holds: slower <= SLOWER_MAX && sent > BUNDLES,
      figures: {
        'submission before, ms': Math.round(usualMs),
        'submission under attack, ms': Math.round(attackedMs),
        [`slower (at most ${SLOWER_MAX})`]: slower.toFixed(2),
        'blocks a second under attack': (blocks / seconds).toFixed(2),
        'bundles sent': sent,
      },
    }
  },
}

/** Signs a bundle like the member's own synchronizer, but with a false `notAfter` in the header. */
function signedBundle(content: Uint8Array, genesisHash: string, key: KeyPair): Uint8Array {
  const notAfter = new DataView(new ArrayBuffer(8))
  notAfter.setBigUint64(0, BigInt(clock.nowMicros() + LIFETIME_MICROS))
  const time = new Uint8Array(notAfter.buffer)
  const tag = utf8('quorumscan/bundle/1\0')
  const statement = concatBytes([tag, fromHex(genesisHash), time, sha256(content)])
  const header = [Uint8Array.of(0), fromHex(key.publicKey), key.sign(statement), time]
  return concatBytes([...header, content])
}

/** Each entry with a length prefix. */
function bundleOf(entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(entries.flatMap((entry) => [varint(entry.byteLength), entry]))
}

function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of(0x80 | (value & 0x7f)), varint(value >> 7)])
}
