/**
 * A process with one task on the state of many random names: it fills a Redis with them, loads the tree from it and
 * proves some, or renews some in a tree in memory.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSystemClock, fromUtf8, sha256, sha256Hex, toHex, utf8 } from '@quorumscan/base'
import type { Ordering } from '@quorumscan/ledger'
import { openReplica } from '@quorumscan/replica'
import {
  createStateHistory,
  type EntryFields,
  fillNames,
  type StateHistory,
} from '@quorumscan/replica/testing'
import { createTestNetwork } from '@quorumscan/testkit'
import { encodeStateStatement, type StatePoint } from '@quorumscan/verifier'
import { encodeCertificate, encodeDocument } from '@quorumscan/verifier/certified'
import type { KeyRange } from '@quorumscan/verifier/state-tree'
import { Redis } from 'ioredis'
import { answer, childArgument } from '../../support/child.ts'
import { type ToVerify, verifyMs } from './verify.ts'

export type StateArgument = {
  readonly task: 'fill' | 'load' | 'update'
  readonly socketPath: string
  readonly nameCount: number
}
export type Loaded = {
  /** All times are processor times. */
  readonly loadMs: number
  /** Time of a SHA-256 of 1 KiB, which shows the current speed of the machine. */
  readonly hashMicros: number
  readonly bytesPerName: number
  /** Sizes of proofs of one name, without its entry. */
  readonly proofBytes: readonly number[]
  readonly proofMs: number
  /** Time to verify one name with a known certificate. */
  readonly verifyMs: number
  readonly toVerify: ToVerify
}
export type Updated = {
  /** Time per added or removed leaf, with one renewed entry per root. */
  readonly aloneMicros: number
  /** The same, with many entries per root. */
  readonly togetherMicros: number
}

const PROOF_COUNT = 2_000
const HASH_COUNT = 100_000
const ALONE_COUNT = 2_000
const TOGETHER_COUNT = 200
const ENTRIES_PER_ROOT = 32
/** A renewed entry has another contract: two leaves are removed and two added. */
const LEAVES_PER_ENTRY = 4
/** Time between certifiable offsets under load. */
const STEP_MICROS = 200_000
const NAMES_PER_OWNER = 4
const EXPIRES_AT = 2_000_000_000_000_000

const { task, socketPath, nameCount } = childArgument<StateArgument>()
const clock = createSystemClock()
const network = createTestNetwork()
if (task === 'fill') await fill()
else if (task === 'load') answer(await load())
else answer(update())

function entryOf(index: number): EntryFields {
  const digest = sha256Hex(utf8(`name ${index}`))
  const owner = sha256Hex(utf8(`owner ${Math.floor(index / NAMES_PER_OWNER)}`))
  return {
    name: `${digest.slice(0, 8 + (index % 12))}.unverified.ns`,
    user: `${owner.slice(0, 12)}::1220${owner}`,
    expiresAt: EXPIRES_AT,
  }
}

async function fill(): Promise<void> {
  const redis = new Redis({ path: socketPath })
  const entries = Array.from({ length: nameCount }, (_, index) => entryOf(index))
  await fillNames(redis, network, entries)
  redis.disconnect()
  answer({})
}

async function load(): Promise<Loaded> {
  // The log is empty, so that the replica only loads its state.
  const ordering: Ordering = {
    submit: () => Promise.reject(new Error('this log is read-only')),
    follow: async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      yield* []
    },
  }
  const stopping = new AbortController()
  await using replica = await openReplica({ redis: { path: socketPath }, ...network, clock })
  const before = memoryBytes()
  const startedAt = cpuMs()
  const loaded = new Promise((resolve) => replica.proofs.onStatePoint(resolve))
  const running = replica.run(ordering, stopping.signal)
  await loaded
  const loadMs = cpuMs() - startedAt
  const bytesPerName = (memoryBytes() - before) / nameCount
  const offset = replica.head().offset
  const proofBytes: number[] = []
  const proofs: Uint8Array[] = []
  const provingAt = cpuMs()
  for (let each = 0; each < PROOF_COUNT; each++) {
    const [proven] = await replica.proofs.proveRanges(offset, [rangeOf(nameOfProof(each))])
    // The size of a proof does not include the entry.
    const entryBytes = utf8(JSON.stringify(proven?.leaves[0]?.value)).byteLength
    proofBytes.push((proven?.proof.byteLength ?? Number.NaN) - entryBytes)
    if (proven !== undefined) proofs.push(proven.proof)
  }
  const proofMs = (cpuMs() - provingAt) / PROOF_COUNT
  const point = replica.proofs.statePoints().find((one) => one.offset === offset)
  if (point === undefined) throw new Error('the state at the head is not certifiable')
  const toVerify = signedProofs(point, proofs)
  stopping.abort()
  await running
  const measured = { loadMs, hashMicros: hashMicros(), bytesPerName, proofBytes, proofMs }
  return { ...measured, verifyMs: await verifyMs(toVerify, sha256, cpuMs), toVerify }
}

function hashMicros(): number {
  const bytes = new Uint8Array(1_024)
  const startedAt = cpuMs()
  for (let each = 0; each < HASH_COUNT; each++) sha256(bytes)
  return ((cpuMs() - startedAt) * 1_000) / HASH_COUNT
}

function nameOfProof(each: number): string {
  return entryOf(each * 37).name
}

/** The documents of a node that has the signatures of all members. */
function signedProofs(point: StatePoint, proofs: readonly Uint8Array[]): ToVerify {
  const { genesis, genesisHash, scans } = network
  const signed = { ...point, genesisHash }
  const statement = encodeStateStatement(signed)
  const certificate = encodeCertificate({
    ...signed,
    signatures: scans.map((key, index) => [`sv-${index + 1}`, toHex(key.sign(statement))]),
  })
  return {
    genesis,
    names: proofs.map((_, each) => nameOfProof(each)),
    documents: proofs.map((proof) => encodeDocument(certificate, `[${fromUtf8(proof)}]`)),
  }
}

function rangeOf(name: string): KeyRange {
  return { from: utf8(`n\0${name}\0`), to: utf8(`n\0${name}\u0001`), limit: 1 }
}

function update(): Updated {
  const history = createStateHistory(network.genesis)
  const facts = (index: number, round: number) => ({
    ...entryOf(index),
    contractId: `00${sha256Hex(utf8(`${index} ${round}`))}`,
    body: utf8(`body ${index} ${round}`),
  })
  for (let index = 0; index < nameCount; index++) history.add(facts(index, 0))
  const rounds = new Map<number, number>()
  const renew = (index: number, of: StateHistory) => {
    const round = rounds.get(index) ?? 0
    rounds.set(index, round + 1)
    of.remove(facts(index, round))
    of.add(facts(index, round + 1))
  }
  let offset = 0
  const commit = () => {
    offset += 1
    history.commit({ offset, recordTime: offset * STEP_MICROS, historyHash: '' })
  }
  commit()
  const microsOf = (count: number, entries: number): number => {
    const startedAt = cpuMs()
    for (let each = 0; each < count; each++) {
      for (let entry = 0; entry < entries; entry++)
        renew(((each * entries + entry) * 7_919) % nameCount, history)
      commit()
    }
    const ms = cpuMs() - startedAt
    return (ms * 1_000) / (count * entries * LEAVES_PER_ENTRY)
  }
  // Warm-up: code is compiled.
  microsOf(TOGETHER_COUNT, ENTRIES_PER_ROOT)
  return {
    aloneMicros: microsOf(ALONE_COUNT, 1),
    togetherMicros: microsOf(TOGETHER_COUNT, ENTRIES_PER_ROOT),
  }
}

/** Processor time of this process, which does not depend on other processes. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Used memory: the heap, and arrays outside of it. */
function memoryBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // The first collection frees objects, and only the second one the array buffers that these used.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
