import { type LfValue, party, record, text, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'

/** A registered name. From `expiresAt` on it is not visible, archived or not (D-9). */
export const ansEntry = defineTemplate({
  packageName: 'quorumscan-name-service',
  module: 'Ans',
  entity: 'AnsEntry',
  type: record('AnsEntry', {
    user: party,
    dso: party,
    name: text,
    url: text,
    description: text,
    expiresAt: time,
  }),
  signatories: ({ user, dso }) => [user, dso],
  keys: ({ name }) => [`name:${name}`],
  due: ({ expiresAt }) => [{ job: 'expire-entry', at: expiresAt }],
})
export type AnsEntryPayload = LfValue<typeof ansEntry.type>
