/**
 * Entries that every replica refuses, from four addresses without a token, at the rate that these are permitted. An entry
 * whose judgement is late is admitted, which depends on the machine; its sender pays for its bytes afterwards, which does
 * not.
 */
import {
  createKeyPair,
  createSystemClock,
  type KeyPair,
  randomHex,
  sha256Hex,
  systemRandom,
} from '@quorumscan/base'
import { allocatePartyCommand, tapCommand, transferCommand } from '@quorumscan/ledger'
import { type ContractId, partyIdOf } from '@quorumscan/model'
import { send, untilTrue } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { Agent, request } from 'undici'
import { createUser, unwrap } from '../support/client.ts'
import { createSigner, ruleIds } from '../support/network.ts'
import { openSynchronizers } from '../support/synchronizers.ts'
import type { Attack } from './attack.ts'

/** So many addresses without a token have all that such addresses have together. */
const ADDRESSES = ['127.0.5.1', '127.0.5.2', '127.0.5.3', '127.0.5.4']
/** The units of an address in a second: what it sends at once at its start, an entry for a unit. */
const PER_SECOND = 50
const SECONDS = 10
/** What the price of a refused entry in the log counts as its bytes (D-95). */
const BYTES_PER_UNIT = 64
const OVERHEAD_BYTES = 400
const clock = createSystemClock()

/** The bytes of these alone show that the log must not have them. */
const KEPT_OUT = ['bad signature', 'known double'] as const
/** Only the state refuses these, whose judgement may be late. */
const JUDGED = ['unknown party', 'spent contract'] as const
const KINDS = [...KEPT_OUT, ...JUDGED] as const
type Kind = (typeof KINDS)[number]
type Attempt = { readonly kind: Kind; readonly bytes: Uint8Array }

export const refusedEntries: Attack = {
  name: 'refused-entries',
  needsOwnCluster: true,
  claim:
    `${ADDRESSES.length} addresses without a token send ${PER_SECOND} entries a second each, at once, with a bad ` +
    'signature, for an unknown party, with a spent contract, or known bytes. None of them reaches the log but those whose ' +
    'judgement was late, and the senders of these owe all bytes that they leave.',
  async run({ cluster }) {
    const makeAttempt = await createAttempts(cluster)
    const counts = () => countsOf(cluster)
    const before = await counts()
    const sent: Attempt[] = []
    const answers = new Map<string, number>()
    const submit = async (agent: Agent) => {
      const attempt = makeAttempt()
      sent.push(attempt)
      const { statusCode, body } = await request(`${cluster.urls.synchronizer}/v0/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: attempt.bytes,
        dispatcher: agent,
      })
      await body.dump()
      const answer = `${attempt.kind} ${statusCode}`
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    await Promise.all(
      ADDRESSES.map(async (localAddress) => {
        const agent = new Agent({ connections: PER_SECOND, localAddress })
        for (let second = 0; second < SECONDS; second++) {
          const pause = clock.delay(1_000)
          await Promise.all(Array.from({ length: PER_SECOND }, () => submit(agent)))
          await pause
        }
        await agent.close()
      }),
    )
    const inLog = await countInLog(cluster)
    const reached = (kind: Kind) => {
      const hashes = new Set(sent.flatMap((one) => (one.kind === kind ? sha256Hex(one.bytes) : [])))
      // A known double is in the log once: it was admitted before.
      const admitted = kind === 'known double' ? 1 : 0
      return [...hashes].reduce((sum, hash) => sum + (inLog.get(hash) ?? 0) - admitted, 0)
    }
    const reachedLate = JUDGED.reduce((sum, kind) => sum + reached(kind), 0)
    const isKeptOut = KEPT_OUT.every((kind) => reached(kind) === 0)
    let owed = 0
    for (const { kind, bytes } of sent)
      if (kind !== 'known double' && inLog.has(sha256Hex(bytes)))
        owed += Math.ceil((bytes.byteLength + OVERHEAD_BYTES) / BYTES_PER_UNIT)
    const charged = async () => (await counts()).refusedUnits - before.refusedUnits
    await untilTrue('the debt of the senders', async () => (await charged()) >= owed)
    const unjudged = (await counts()).unjudged - before.unjudged
    const isJudged = JUDGED.every((kind) => answers.has(`${kind} 400`))
    return {
      // Otherwise the rate alone would hold them off, or no judgement came in time.
      holds: isKeptOut && reachedLate <= unjudged && isJudged,
      figures: {
        'entries sent': sent.length,
        'admitted because their judgement was late': unjudged,
        'units that their senders owe for those in the log': owed,
        ...Object.fromEntries(KINDS.map((kind) => [`in the log: ${kind}`, reached(kind)])),
        ...Object.fromEntries([...answers].sort()),
      },
    }
  },
}

/** Makes attempts of all kinds in turn. Those that must be in the log before are. */
async function createAttempts(cluster: RunningCluster): Promise<() => Attempt> {
  const { sign } = await createSigner(cluster)
  const { coinRules } = await ruleIds(cluster)
  const rules = coinRules.contract_id
  const [known, stranger] = [createKeyPair(), createKeyPair()]
  const partyOf = ({ publicKey }: KeyPair) => partyIdOf('mallory', publicKey) ?? ''
  const allocation = sign(known, {
    actAs: [],
    commands: [allocatePartyCommand({ hint: 'mallory' })],
  })
  const [one] = await openSynchronizers(cluster)
  if (one === undefined) throw new Error('a cluster has a node')
  await using synchronizer = one
  await synchronizer.submit(allocation)
  const spent = await spendCoin(cluster)
  const hint = () => randomHex(systemRandom, 8)
  const forger: KeyPair = { ...known, sign: stranger.sign }
  const makers: Readonly<Record<Kind, () => Uint8Array>> = {
    'bad signature': () =>
      sign(forger, { actAs: [], commands: [allocatePartyCommand({ hint: hint() })] }),
    'unknown party': () => {
      const receiver = partyOf(stranger)
      const tap = tapCommand({ coinRules: rules, receiver, amount: 1n })
      return sign(stranger, { actAs: [receiver], commands: [tap] })
    },
    'spent contract': () => {
      const sender = partyOf(known)
      const transfer = transferCommand({ coinRules: rules, sender, inputs: [spent], outputs: [] })
      return sign(known, { actAs: [sender], commands: [transfer] })
    },
    'known double': () => allocation,
  }
  let count = 0
  return () => {
    const kind = KINDS[count++ % KINDS.length] ?? 'bad signature'
    return { kind, bytes: makers[kind]() }
  }
}

/** A coin of a user that it has spent. */
async function spendCoin(cluster: RunningCluster): Promise<ContractId> {
  const user = await createUser(cluster, 'spender')
  const { coins } = unwrap(await user.client.GET('/v0/wallet/coins'))
  const transfer = {
    receiver_party_id: user.party,
    amount: '1.0',
    description: '',
    expires_at: clock.nowMicros() + 3_600_000_000,
    tracking_id: 'spend',
  }
  unwrap(await user.client.POST('/v0/wallet/token-standard/transfers', { body: transfer }))
  const [coin] = coins
  if (coin === undefined) throw new Error('the user has tapped a coin')
  return coin.contract.contract.contract_id as ContractId
}

/** How often the log has each entry, by the hash of its bytes. */
async function countInLog(cluster: RunningCluster): Promise<ReadonlyMap<string, number>> {
  const [one] = await openSynchronizers(cluster)
  if (one === undefined) throw new Error('a cluster has a node')
  await using synchronizer = one
  const counts = new Map<string, number>()
  for (const { bytes } of await synchronizer.readTo(await synchronizer.head())) {
    const hash = sha256Hex(bytes)
    counts.set(hash, (counts.get(hash) ?? 0) + 1)
  }
  return counts
}

/** What the synchronizer has counted. */
async function countsOf({ urls }: RunningCluster) {
  const { text } = await send(`${urls.synchronizer}/metrics`)
  const read = (name: string) =>
    Number(new RegExp(`^quorumscan_${name} (.+)$`, 'm').exec(text)?.[1])
  return {
    unjudged: read('entries_unjudged_total'),
    refusedUnits: read('refused_entry_units_total'),
  }
}
