/**
 * The view of the interface `Holding` (D-31), in Daml-LF JSON.
 *
 * Not in the specification: which members it has. We chose those of the network's token standard, which wallets know.
 */
import { type DamlValue, INSTRUMENT_ID } from '@quorumscan/model'
import { type Template, templateRef } from './template.ts'
import { coin } from './templates/coin.ts'
import { lockedCoin } from './templates/locked-coin.ts'

type Members = Readonly<Record<string, DamlValue>>

export function implementsHolding(template: Template<unknown>): boolean {
  const ref = templateRef(template)
  return ref === templateRef(coin) || ref === templateRef(lockedCoin)
}

/** @param payload - Of a template that implements it, canonical or in Daml-LF JSON. */
export function holdingViewOf(payload: Members): DamlValue {
  const lock = payload['lock'] as Members | undefined
  const held = lock === undefined ? payload : (payload['coin'] as Members)
  const amount = held['amount'] as Members
  const context = lock?.['optContext'] ?? null
  return {
    owner: held['owner'] as string,
    instrumentId: { admin: held['dso'] as string, id: INSTRUMENT_ID },
    amount: amount['initialAmount'] as string,
    lock:
      lock === undefined
        ? null
        : {
            holders: lock['holders'] as readonly string[],
            expiresAt: lock['expiresAt'] as string,
            // Trailing None is omitted (§L4.3).
            ...(context === null ? {} : { expiresAfter: null, context }),
          },
    meta: { values: {} },
  }
}
