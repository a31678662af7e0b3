/** The choices on an entry: renew or expire it. */
import { contractId, party, record, relTime, unit } from '../lf.ts'
import { demand } from '../refusal.ts'
import { defineChoice } from '../template.ts'
import { ansEntry } from '../templates/ans-entry.ts'
import { demandActor, later } from './common.ts'

/** Either signatory archives an entry from `expiresAt` on (D-22). */
export const expireEntry = defineChoice(ansEntry, 'AnsEntry_Expire', {
  consuming: true,
  worksWhenFull: true,
  argument: record('AnsEntry_Expire', { actor: party }),
  result: unit,
  controllers: (_entry, { actor }) => [actor],
  run(tx, { payload: entry }, { actor }) {
    demandActor(actor, [entry.user, entry.dso])
    demand(entry.expiresAt <= tx.now, 'CHOICE_REFUSED', 'the entry has not expired')
    return {}
  },
})

/** A further period, under a new contract id (D-22). */
export const renewEntry = defineChoice(ansEntry, 'AnsEntry_Renew', {
  consuming: true,
  argument: record('AnsEntry_Renew', { extension: relTime }),
  result: record('AnsEntry_RenewResult', { entryCid: contractId }),
  controllers: ({ user, dso }) => [user, dso],
  run(tx, { payload: entry }, { extension }) {
    demand(extension > 0, 'INVALID_ARGUMENT', 'an extension is positive')
    const expiresAt = later(entry.expiresAt, extension)
    return { entryCid: tx.create(ansEntry, { ...entry, expiresAt }) }
  },
})
