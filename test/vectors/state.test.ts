/**
 * All leaves of a state with all kinds of values, and its root. These bytes change only with the protocol version in
 * the log, not with the API.
 */
import { join } from 'node:path'
import { ansRules, confirmSetConfigCommand, dsoRules, payloadOf } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { AMOUNT_SCALE } from '@quorumscan/model'
import { naiveStates } from '@quorumscan/replica/testing'
import { expect, it } from 'vitest'

// `vitest run --project vectors -u` writes them.
it('leaves and root of a state equal the published ones', async () => {
  const states = naiveStates(createScenario())
  const { offset, recordTime, leaves, root } = states.at(-1) as (typeof states)[number]
  const published = leaves.map(({ key, expiresAt, value }) => ({
    key: key.toString().slice(0, -1).split('\0'),
    expires_at: expiresAt,
    value,
  }))
  const vector = { offset, record_time: recordTime, state_root: root, leaves: published }
  expect(new Set(published.map(({ key }) => key.slice(0, key[0] === 'c' ? 2 : 1).join()))).toEqual(
    new Set(['a', 'c,ans-rules', 'c,dso', 'c,scans', 'm', 'n', 'p']),
  )
  await expect(`${JSON.stringify(vector, null, 1)}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, 'state.json'),
  )
})

/** A ledger with entries, activities, addresses, and rules that a quorum has changed. */
function createScenario(): Scenario {
  const scenario = new Scenario({ protocolVersion: 3 })
  scenario.register(scenario.actor('alice'), 'alice.unverified.ns')
  for (const index of [2, 0]) scenario.publish(index, { sequence: 1 })
  const [rules] = scenario.ledger.byKey('singleton:AnsRules')
  if (rules === undefined) throw new Error('the ledger has no rules')
  const config = { ...payloadOf(ansRules, rules).config, entryFee: 123n * AMOUNT_SCALE }
  for (const sv of scenario.svs.slice(0, 3))
    scenario.do(
      sv,
      confirmSetConfigCommand({
        dsoRules: scenario.the(dsoRules),
        confirmer: sv.party,
        ansRules: rules.contractId,
        config,
      }),
    )
  // The state is certifiable at this offset.
  scenario.ledger.append(new Uint8Array(0))
  return scenario
}
