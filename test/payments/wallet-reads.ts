/** What the wallet reads of a replica beyond contracts: pages of lists, and the history of a party, over a ledger in memory. */
import { assert, utf8 } from '@quorumscan/base'
import { activityRowsOf, amountsOf, noticeRowsOf } from '@quorumscan/ledger'
import type { MemoryLedger } from '@quorumscan/ledger/testing'
import type { Contract } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'

export type WalletReads = Pick<Replica, 'listContracts'> & {
  readonly lookups: Pick<Replica['lookups'], 'activities'>
  pin(): Promise<{ readonly offset: number }>
}

export function createWalletReads(ledger: MemoryLedger): WalletReads {
  const amountIn = (key: string, contract: Contract): bigint =>
    amountsOf(contract).find((entry) => entry.key === key)?.amount ?? 0n
  return {
    /** A position is the number of contracts before it: nothing changes during a walk. */
    async listContracts(keys, { after, limit }) {
      const found = keys.flatMap((key) =>
        ledger.byKey(key).map((contract) => ({ contract, amount: amountIn(key, contract) })),
      )
      found.sort((a, b) => {
        const byAmount = Number(b.amount - a.amount)
        return byAmount || b.contract.offset - a.contract.offset
      })
      const first = Number(Buffer.from(after ?? []).toString() || 0)
      const end = first + limit
      const contracts = found.slice(first, end).map(({ contract }) => contract)
      return { contracts, ...(end < found.length && { next: Buffer.from(String(end)) }) }
    },
    pin: async () => ledger.head(),
    lookups: {
      async activities({ party, order, after, limit }) {
        assert(order === 'desc' && party !== undefined, 'the wallet shows the newest of a party')
        const { synchronizerId } = ledger.genesis
        const rows = ledger.results().flatMap((result, index) => {
          const entry = ledger.entries()[index]
          if (entry === undefined) return []
          const { offset, recordTime } = entry
          const applied = { offset, recordTime, synchronizerId, result }
          return [...activityRowsOf(applied), ...noticeRowsOf(applied)]
        })
        return rows
          .filter(({ parties, activity }) => {
            return parties.includes(party) && (after === null || activity.event_id < after)
          })
          .sort((a, b) => (a.activity.event_id < b.activity.event_id ? 1 : -1))
          .slice(0, limit)
          .map(({ activity, step }) => ({
            eventId: activity.event_id,
            step,
            body: utf8(JSON.stringify(activity)),
          }))
      },
    },
  }
}
