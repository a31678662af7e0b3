/** The number and the sum of the contracts of each list by amount (`amountsOf`), which ingest keeps. */
import { ByteReader, ByteWriter } from '@quorumscan/base'
import type { AmountEntry, Total } from '@quorumscan/ledger'
import type { Amount } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import type { CommandSink } from './commands.ts'
import { internTotal } from './intern.ts'
import { totalsKey } from './keys.ts'
import { bytesOfSum, sumOfBytes } from './order.ts'

export const NO_TOTAL: Total = { count: 0, sum: 0n }

/** Totals by the keys of their lists. */
export type Totals = ReadonlyMap<string, Total>

/** Adds an entry to the total of its list, or removes it. */
export function changeTotal(totals: Map<string, Total>, entry: AmountEntry, change: 1 | -1): void {
  const { count, sum } = totals.get(entry.key) ?? NO_TOTAL
  const amount = change === 1 ? entry.amount : -entry.amount
  totals.set(entry.key, { count: count + change, sum: sum + amount })
}

/** Stores totals. An empty list has none. */
export function putTotals(commands: CommandSink, totals: Totals): void {
  for (const [key, { count, sum }] of totals) {
    const { bucket, rest } = internTotal(key)
    if (count === 0) commands.add('HDEL', totalsKey(bucket), rest)
    else commands.add('HSET', totalsKey(bucket), rest, encodeTotal(count, sum))
  }
}

function encodeTotal(count: number, sum: Amount): Uint8Array {
  const writer = new ByteWriter()
  writer.unsigned(count)
  writer.raw(bytesOfSum(sum))
  return writer.finish()
}

/** Of a value that is not stored: the total of an empty list. */
export function decodeTotal(bytes: Uint8Array | null): Total {
  if (bytes === null) return NO_TOTAL
  const reader = new ByteReader(bytes)
  return { count: reader.unsigned(), sum: sumOfBytes(reader.rest()) }
}

/** The stored totals of some lists, not read at one head. */
export async function readTotals(redis: Redis, keys: readonly string[]): Promise<Totals> {
  const values = await Promise.all(
    keys.map((key) => {
      const { bucket, rest } = internTotal(key)
      return redis.hgetBuffer(totalsKey(bucket), Buffer.from(rest))
    }),
  )
  return new Map(keys.map((key, index) => [key, decodeTotal(values[index] ?? null)]))
}
