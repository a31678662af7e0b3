/** Means of attackers: the public documents of the network, free keys, and submission. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createSystemClock,
  type KeyPair,
  keyPairFromSeed,
  median,
  randomHex,
  systemRandom,
} from '@quorumscan/base'
import { encodeEntry } from '@quorumscan/ledger'
import type { Submission } from '@quorumscan/model'
import { createHttpClient, send, until } from '@quorumscan/testkit'
import { hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { createUser, lookup } from './client.ts'

const LIFE_MICROS = 300_000_000
const HOUR_MICROS = 3_600_000_000

/** Names can be renewed immediately, so that every operation can succeed. */
export const NETWORK_RULES = {
  names: { entryLifetimeMicros: HOUR_MICROS, renewalDurationMicros: HOUR_MICROS },
}

/** Signs submissions as entries that are valid for five minutes. */
export async function createSigner(cluster: RunningCluster) {
  const clock = createSystemClock()
  const genesis = parseGenesis(
    JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8')),
  )
  const genesisHash = await hashGenesis(genesis)
  const sign = (
    keyPair: KeyPair,
    content: Pick<Submission, 'actAs' | 'commands'> & Partial<Pick<Submission, 'notAfter'>>,
  ): Uint8Array =>
    encodeEntry(
      {
        genesis: genesisHash,
        participant: keyPair.publicKey,
        id: randomHex(systemRandom, 16),
        notAfter: clock.nowMicros() + LIFE_MICROS,
        userId: 'someone',
        readAs: [],
        commandId: randomHex(systemRandom, 16),
        submissionId: '',
        workflowId: '',
        deduplication: { kind: 'duration', micros: 0 },
        disclosed: [],
        ...content,
      },
      keyPair,
    )
  return { genesis, genesisHash, sign }
}

/** A key or a token from the data directory, as an operator has. */
export async function ownSecret(
  cluster: Pick<RunningCluster, 'dataDir'>,
  path: string,
): Promise<string> {
  return (await readFile(join(cluster.dataDir, path), 'utf8')).trim()
}

export async function ownKey(cluster: RunningCluster, name: string): Promise<KeyPair> {
  return keyPairFromSeed(await ownSecret(cluster, `keys/${name}`))
}

/** Submits an entry to the synchronizer, with a peer token or anonymously. Returns the status. */
export async function submit(
  cluster: RunningCluster,
  bytes: Uint8Array,
  token: string | null = null,
): Promise<number> {
  const { status } = await send(`${cluster.urls.synchronizer}/v0/submit`, {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      ...(token === null ? {} : { 'x-peer-token': token }),
    },
    body: bytes,
  })
  return status
}

/** Reads the public contracts that commands must name. */
export async function ruleIds(cluster: RunningCluster) {
  const { body } = await send(`${cluster.urls.validator}/v0/scan-proxy/dso`)
  const { dso_rules, coin_rules } = body as Record<
    'dso_rules' | 'coin_rules',
    { contract: { contract_id: string; created_event_blob: string } }
  >
  return { dsoRules: dso_rules.contract, coinRules: coin_rules.contract }
}

/** Makes many coins of a user: so many with each submission. */
export async function tapOften(
  cluster: RunningCluster,
  { token, party }: { readonly token: string; readonly party: string },
  { submissions, taps }: { readonly submissions: number; readonly taps: number },
): Promise<void> {
  const { coinRules } = await ruleIds(cluster)
  const client = createHttpClient(cluster.urls.validator, token)
  const tap = {
    templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
    contractId: coinRules.contract_id,
    choice: 'CoinRules_DevNet_Tap',
    choiceArgument: { receiver: party, amount: '1.0' },
  }
  for (let count = 0; count < submissions; count++) {
    const submit = () =>
      client.post('/v2/commands/submit-and-wait', {
        commands: Array(taps).fill({ ExerciseCommand: tap }),
        commandId: randomHex(systemRandom, 8),
        actAs: [party],
        disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
      })
    const { status, text } = await until('the taps to be permitted', async () => {
      const answer = await submit()
      return answer.status === 429 ? undefined : answer
    })
    if (status !== 200) throw new Error(`taps were refused: ${text}`)
  }
}

/** Registers names one after the other as a user of the validator, and measures the time of each in ms. */
export async function createRegistrar(cluster: RunningCluster) {
  const label = randomHex(systemRandom, 4)
  const user = await createUser(cluster, `registrar-${label}`, '1000.0')
  let count = 0
  return {
    /** The last registered name. */
    name: () => `n-${label}-${count}.unverified.ns`,
    async register(): Promise<number> {
      const startedMs = performance.now()
      count++
      await user.accept(await user.request(this.name()))
      await until(`${this.name()} to be verified`, async () => {
        const { status, headers } = await lookup(cluster, this.name())
        return status === 200 && headers.get('x-quorum-outcome') === 'verified' ? true : undefined
      })
      return performance.now() - startedMs
    },
    /** The median time of `rounds` registrations, ms. */
    async median(rounds: number): Promise<number> {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await this.register())
      return median(times)
    },
  }
}

/** Looks a name up continuously, and counts the lookups and those that were not verified. */
export function watchLookups(cluster: RunningCluster, name: string) {
  const stopping = new AbortController()
  const seen = { lookups: 0, unverified: 0 }
  const clock = createSystemClock()
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const { headers } = await lookup(cluster, name)
      seen.lookups++
      if (headers.get('x-quorum-outcome') !== 'verified') seen.unverified++
      await clock.delay(LOOKUP_EVERY_MS, stopping.signal).catch(() => {}) // Aborted: the loop ends.
    }
  })()
  return async () => {
    stopping.abort()
    await watching
    return seen
  }
}
const LOOKUP_EVERY_MS = 100
