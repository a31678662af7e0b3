/** Direct access to the synchronizers of a running cluster: submits entries and reads the log without its validator. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createKeyPair,
  createSystemClock,
  type KeyPair,
  sha256Hex,
  systemRandom,
} from '@quorumscan/base'
import { allocatePartyCommand, encodeEntry, type LogEntry } from '@quorumscan/ledger'
import { createLogClient, createOrderingClient } from '@quorumscan/log'
import { send } from '@quorumscan/testkit'
import { type Genesis, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'

const clock = createSystemClock()
const LIFETIME_MICROS = 300_000_000
const ATTEMPT_MS_MAX = 60_000
const RETRY_INTERVAL_MS = 200

/** Entries in flight for each super-validator. */
const IN_FLIGHT_PER_MEMBER = 16

export type SignedEntry = {
  readonly bytes: Uint8Array
  /** µs since the epoch. No synchronizer may order the entry later. */
  readonly notAfter: number
}

export type Synchronizer = Awaited<ReturnType<typeof openSynchronizers>>[number]

/** One for each node: its own synchronizer, or the shared one, with the token of that node. */
export async function openSynchronizers(cluster: RunningCluster) {
  const genesis = await genesisOf(cluster)
  const hash = await hashGenesis(genesis)
  const { members, nodes, synchronizer } = await cluster.status()
  return await Promise.all(
    nodes.map(async ({ name }) => {
      const url = members.find((member) => member.name === name)?.url ?? synchronizer.url
      const token = await readFile(join(cluster.dataDir, 'secrets', `log-token-${name}`), 'utf8')
      const log = createLogClient({ url, token: token.trim() })
      const submit = (bytes: Uint8Array) => log.submit(bytes, AbortSignal.timeout(ATTEMPT_MS_MAX))
      return {
        name,
        /** Resolves when the entry is ordered. */
        submit,
        /** Submits the same bytes repeatedly until they are ordered. Returns false after `notAfter`. */
        async order({ bytes, notAfter }: SignedEntry): Promise<boolean> {
          while (clock.nowMicros() < notAfter) {
            const isOrdered = await submit(bytes).then(
              () => true,
              () => false,
            )
            if (isOrdered) return true
            await clock.delay(RETRY_INTERVAL_MS)
          }
          return false
        },
        /** Newest offset. */
        head: async (): Promise<number> =>
          (await send(`${url}/status`)).body.success.extra.offset ?? 0,
        /** Reads the log from its start to this offset. */
        async readTo(offset: number): Promise<readonly LogEntry[]> {
          const stopping = new AbortController()
          const reader = createOrderingClient({
            log,
            genesis: { ...genesis, hash },
            clock,
            random: systemRandom,
          })
          const entries: LogEntry[] = []
          const request = { from: 0, expected: null, batchEntriesMax: 1000 }
          for await (const batch of reader.follow({ ...request, signal: stopping.signal })) {
            entries.push(...batch)
            if ((entries.at(-1)?.offset ?? 0) >= offset) stopping.abort()
          }
          return entries.slice(0, offset)
        },
        [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
      }
    }),
  )
}

/** Makes entries. Each allocates another party, signed by one of 16 keys in turn. */
export async function createEntries(
  cluster: RunningCluster,
  lifetimeMicros = LIFETIME_MICROS,
): Promise<() => SignedEntry> {
  const genesisHash = await hashGenesis(await genesisOf(cluster))
  const keyPairs = Array.from({ length: 16 }, createKeyPair)
  let count = 0
  return () => {
    const index = count++
    const keyPair = keyPairs[index % keyPairs.length] ?? createKeyPair()
    const notAfter = clock.nowMicros() + lifetimeMicros
    return { bytes: signAllocation(keyPair, { genesisHash, index, notAfter }), notAfter }
  }
}

/** Orders entries up to this offset, by the synchronizers of the nodes that are up. */
export async function fillTo(cluster: RunningCluster, offset: number): Promise<void> {
  const { nodes } = await cluster.status()
  const up = nodes.filter(({ state }) => state === 'up').map(({ name }) => name)
  const synchronizers = await openSynchronizers(cluster)
  const nextEntry = await createEntries(cluster)
  await Promise.all(
    synchronizers
      .filter(({ name }) => up.includes(name))
      .flatMap((one) => Array.from({ length: IN_FLIGHT_PER_MEMBER }, () => one))
      .map(async (one) => {
        while ((await one.head()) < offset) await one.order(nextEntry())
      }),
  )
}

/** Reads the log of each synchronizer and returns it. @throws {Error} If logs differ. */
export async function readSameLog(
  synchronizers: readonly Synchronizer[],
): Promise<readonly LogEntry[]> {
  const head = Math.max(...(await Promise.all(synchronizers.map((one) => one.head()))))
  const [first = [], ...others] = await Promise.all(synchronizers.map((one) => one.readTo(head)))
  const textOf = (log: readonly LogEntry[]) =>
    log.map(({ offset, recordTime, bytes }) => `${offset} ${recordTime} ${sha256Hex(bytes)}`)
  const expected = textOf(first)
  for (const [index, other] of others.entries()) {
    const text = textOf(other)
    const at = expected.findIndex((line, offset) => line !== text[offset])
    if (text.length !== expected.length || at !== -1)
      throw new Error(`log ${index + 2} differs from the first: ${text[at]}, not ${expected[at]}`)
  }
  return first
}

/** The record times of each entry in the log. */
export function recordTimesIn(
  log: readonly LogEntry[],
  entries: readonly SignedEntry[],
): readonly (readonly number[])[] {
  const timesByHash = new Map<string, number[]>()
  for (const { bytes, recordTime } of log) {
    const hash = sha256Hex(bytes)
    timesByHash.set(hash, [...(timesByHash.get(hash) ?? []), recordTime])
  }
  return entries.map(({ bytes }) => timesByHash.get(sha256Hex(bytes)) ?? [])
}

async function genesisOf({ dataDir }: RunningCluster): Promise<Genesis> {
  return parseGenesis(JSON.parse(await readFile(join(dataDir, 'genesis.json'), 'utf8')))
}

export function signAllocation(
  keyPair: KeyPair,
  entry: { readonly genesisHash: string; readonly index: number; readonly notAfter: number },
): Uint8Array {
  const { genesisHash, index, notAfter } = entry
  return encodeEntry(
    {
      genesis: genesisHash,
      participant: keyPair.publicKey,
      id: String(index).padStart(32, '0'),
      notAfter,
      userId: 'someone',
      actAs: [],
      readAs: [],
      commandId: `allocate-${index}`,
      submissionId: '',
      workflowId: '',
      deduplication: { kind: 'duration', micros: 0 },
      commands: [allocatePartyCommand({ hint: `someone-${index}` })],
      disclosed: [],
    },
    keyPair,
  )
}
