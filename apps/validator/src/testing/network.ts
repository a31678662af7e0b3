/**
 * For tests: a small network in one process. The log, its writer and the replica are real; four
 * super-validators share one replica, run their jobs with their own keys and answer lookups over HTTP.
 * Its time is the machine's, and can be moved on.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scanRoutes, synchronizerRoutes } from '@quorumscan/api'
import { createDevelopmentToken, DEFAULT_AUDIENCE } from '@quorumscan/auth'
import {
  type Clock,
  concatBytes,
  createKeyPair,
  createSystemClock,
  fromHex,
  type KeyPair,
  sha256Hex,
  systemRandom,
  toHex,
  utf8,
} from '@quorumscan/base'
import {
  canonicalRequest,
  encodeAddressStatement,
  encodeAnswerStatement,
  type Genesis,
  hashGenesis,
  parseGenesis,
} from '@quorumscan/consensus'
import { buildServer } from '@quorumscan/http'
import { Jobs, operatorJobs } from '@quorumscan/jobs'
import { type Ordering, svPartyOf } from '@quorumscan/ledger'
import { createLogReader, createLogWriter, LOG_ACL } from '@quorumscan/log'
import { formatTime, type Micros, participantOfKey } from '@quorumscan/model'
import { Replica } from '@quorumscan/replica'
import { createSubmitter } from '@quorumscan/submit'
import { startRedis, untilTrue } from '@quorumscan/testkit'
import type { ValidatorConfig } from '../config.ts'
import { activitiesRequest } from '../proxy/requests.ts'

const DAY_MICROS = 86_400_000_000
const SV_NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
/** q of four nodes. */
const CONFIRMATIONS = 3
/** Tokens outlast every jump in time. */
const TOKEN_SECONDS = 1_000_000_000

export type TestNetwork = AsyncDisposable & {
  readonly genesis: Genesis
  readonly config: ValidatorConfig
  readonly scans: readonly { readonly name: string; stop(): Promise<void> }[]
  /** The time of every process of the network. */
  readonly clock: Clock
  /** Moves time on; record time has moved on as well when it resolves. */
  advance(micros: Micros): Promise<void>
  /** Whether the super-validators do their jobs; true at first. */
  setWorking(isWorking: boolean): void
  /** Keeps the super-validators from applying what the log brings, until what it returns is called. */
  holdScans(): () => void
  token(user: string): Promise<string>
}

export type NetworkOptions = { readonly isDevnet?: boolean }

type Closer = () => PromiseLike<unknown>

export async function startNetwork(options: NetworkOptions = {}): Promise<TestNetwork> {
  const { clock, advance } = createMovableClock()
  const closing = new AbortController()
  const closers: Closer[] = []
  const directory = await mkdtemp(join(tmpdir(), 'qs-validator-'))
  closers.push(() => rm(directory, { recursive: true, force: true }))
  const synchronizerKey = createKeyPair()
  const svs = SV_NAMES.map((name) => ({ name, scan: createKeyPair(), operator: createKeyPair() }))
  const genesis = createGenesis({ synchronizerKey, svs, isDevnet: options.isDevnet ?? true })
  const genesisHash = await hashGenesis(genesis)
  const logGenesis = {
    hash: genesisHash,
    recordTime: genesis.recordTime,
    synchronizerKey: synchronizerKey.publicKey,
  }

  const acl = (user: 'writer' | 'reader') => [
    '--user',
    user,
    'on',
    `>${user}`,
    ...LOG_ACL[user].split(' '),
  ]
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
  const logRedis = await startRedis([...durable, ...acl('writer'), ...acl('reader')])
  const redis = await startRedis(durable)
  const scanRedis = await startRedis()
  for (const each of [logRedis, redis, scanRedis]) closers.push(() => each[Symbol.asyncDispose]())

  const writer = await createLogWriter({
    redis: { path: logRedis.socketPath, username: 'writer', password: 'writer' },
    genesis: logGenesis,
    keyPair: synchronizerKey,
    clock,
    random: systemRandom,
    witnesses: null,
    signal: closing.signal,
  })
  closers.push(() => writer[Symbol.asyncDispose]())
  const { submitEntry } = synchronizerRoutes
  const synchronizer = buildServer({
    routes: { submitEntry },
    handlers: {
      submitEntry: async (request) => {
        await writer.append(request.body)
        return { body: { accepted: true as const } }
      },
    },
    prefix: null,
    rateLimit: null,
  })
  closers.push(() => synchronizer.close())
  const synchronizerUrl = await listen(synchronizer)

  const replica = await Replica.create({
    redis: { path: scanRedis.socketPath },
    genesis,
    genesisHash,
    clock,
  })
  closers.push(() => replica[Symbol.asyncDispose]())
  const ordering = createLogReader({
    redis: { path: logRedis.socketPath, username: 'reader', password: 'reader' },
    genesis: logGenesis,
    submit: (bytes) => writer.append(bytes),
    clock,
    random: systemRandom,
  })
  let held: Promise<void> = Promise.resolve()
  const follow: Ordering['follow'] = async function* (options) {
    for await (const batch of ordering.follow(options)) {
      await held
      yield batch
    }
  }
  const running = replica.run({ ...ordering, follow }, closing.signal)
  closers.push(async () => {
    closing.abort()
    await running
  })

  let isWorking = true
  for (const [index, sv] of svs.slice(0, CONFIRMATIONS).entries()) {
    const submitter = createSubmitter({
      ordering,
      ledger: replica,
      genesisHash,
      keyPair: sv.operator,
      clock,
      random: systemRandom,
    })
    const { name, scan, operator } = sv
    const node = { name, operatorKey: operator.publicKey, scanKey: scan.publicKey }
    const jobs = await Jobs.create({
      redis: { path: scanRedis.socketPath },
      prefix: `jobs-${name}`,
      definitions: operatorJobs,
      deps: { ledger: replica, submitter, party: svPartyOf(node), userId: name },
      ledger: replica,
      isLive: () => isWorking && replica.state() === 'live',
      member: { index, count: CONFIRMATIONS },
      clock,
      random: systemRandom,
      log: { info: () => {}, warn: () => {} },
    })
    closers.push(() => jobs[Symbol.asyncDispose]())
  }

  const urls: string[] = []
  const scans = []
  for (const { name, scan } of svs) {
    const server = createScan({ replica, scan, svs, urls, genesisHash, genesis })
    urls.push(await listen(server))
    let isStopped = false
    const stop = async () => {
      if (isStopped) return
      isStopped = true
      server.server.closeAllConnections()
      await server.close()
    }
    closers.push(stop)
    scans.push({ name, stop })
  }

  const secret = createKeyPair().seed
  const file = async (name: string, text: string) => {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600 })
    return path
  }
  const config: ValidatorConfig = {
    genesisFile: await file('genesis.json', JSON.stringify(genesis)),
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    redisPath: redis.socketPath,
    logRedis: { path: logRedis.socketPath, passwordFile: await file('reader', 'reader\n') },
    synchronizerUrl,
    synchronizerTokenFile: null,
    participantKeyFile: await file('participant', createKeyPair().seed),
    seeds: urls,
    tokens: { kind: 'shared-secret', secretFile: await file('jwt', secret) },
    audience: DEFAULT_AUDIENCE,
    tokenLifetimeSecondsMax: null,
    rateLimit: 100_000,
    nodeTokensFile: null,
    allowPrivateAddresses: true,
    isLossAccepted: false,
  }
  return {
    genesis,
    config,
    scans,
    clock,
    async advance(micros) {
      advance(micros)
      // No submission, but an entry like any other: it has the new time.
      await writer.append(Uint8Array.of(0))
      const now = clock.nowMicros()
      await untilTrue('record time to move on', () => replica.head().recordTime + micros > now)
    },
    setWorking: (next) => {
      isWorking = next
    },
    holdScans() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
    token: (user) =>
      createDevelopmentToken({
        secret: fromHex(secret),
        user,
        ttlSeconds: TOKEN_SECONDS,
        audience: DEFAULT_AUDIENCE,
        clock,
      }),
    async [Symbol.asyncDispose]() {
      for (const close of closers.toReversed()) await close()
    },
  }
}

/** The machine's clock, plus what it was moved on by. */
function createMovableClock(): { clock: Clock; advance(micros: Micros): void } {
  const system = createSystemClock()
  let moved = 0
  const clock: Clock = { ...system, nowMicros: () => system.nowMicros() + moved }
  return {
    clock,
    advance: (micros) => {
      moved += micros
    },
  }
}

type Server = {
  listen(options: { host: string; port: number }): Promise<string>
  readonly server: { address(): AddressInfo | string | null }
}

async function listen(server: Server): Promise<string> {
  await server.listen({ host: '127.0.0.1', port: 0 })
  // Listening on TCP, so the address is no text.
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

type Sv = { readonly name: string; readonly scan: KeyPair; readonly operator: KeyPair }

/** The part of a scan node that the tests read. */
function createScan(input: {
  readonly replica: Replica
  /** With which it signs pages of activities, where it is asked to. */
  readonly scan: KeyPair
  readonly svs: readonly Sv[]
  readonly urls: readonly string[]
  readonly genesisHash: string
  readonly genesis: Genesis
}) {
  const { replica, genesis } = input
  const { listActivities, lookupEntries, getDsoPartyId, listScans } = scanRoutes
  const at = async (offset: number | undefined, signal: AbortSignal) => {
    const pinned = await replica.pin(offset ?? null, signal)
    return {
      pinned,
      offset: pinned.offset,
      headers: {
        'x-ledger-offset': String(pinned.offset),
        'x-ledger-record-time': formatTime(pinned.recordTime),
        'x-ledger-history-hash': pinned.historyHash,
      },
    }
  }
  return buildServer({
    routes: { listActivities, lookupEntries, getDsoPartyId, listScans },
    handlers: {
      lookupEntries: async ({ body, signal }) => {
        const { offset, headers } = await at(body.at_offset ?? undefined, signal)
        const results: Uint8Array[] = []
        for (const lookup of body.lookups) {
          const [found] =
            'name' in lookup
              ? await replica.lookupNames([lookup.name], offset)
              : await replica.lookupParties([lookup.party], offset)
          if (results.length > 0) results.push(utf8(','))
          results.push(utf8('{"entry":'), found ?? utf8('null'), utf8('}'))
        }
        return { headers, body: concatBytes([utf8('{"results":['), ...results, utf8(']}')]) }
      },
      listActivities: async ({ body, headers: asked, signal }) => {
        const { pinned, offset, headers } = await at(asked['x-read-at-offset'], signal)
        const rows = await replica.activities({
          offset,
          after: body.begin_after_id || null,
          limit: body.page_size,
          order: body.sort_order ?? 'asc',
        })
        const activities = rows.map((row) => JSON.parse(Buffer.from(row.body).toString()))
        const answer = utf8(JSON.stringify({ activities }))
        if (asked['x-read-sign'] !== true) return { headers, body: answer }
        const statement = encodeAnswerStatement({
          genesisHash: input.genesisHash,
          ...pinned,
          requestHash: sha256Hex(canonicalRequest(activitiesRequest(body))),
          answerHash: sha256Hex(answer),
        })
        const signature = toHex(input.scan.sign(statement))
        return { headers: { ...headers, 'x-ledger-signature': signature }, body: answer }
      },
      getDsoPartyId: async (request) => {
        const { headers } = await at(request.headers['x-read-at-offset'], request.signal)
        return { headers, body: { dso_party_id: genesis.dso } }
      },
      listScans: async (request) => {
        const { headers } = await at(request.headers['x-read-at-offset'], request.signal)
        const scans = input.svs.flatMap((sv, index) => {
          const url = input.urls[index]
          if (url === undefined) return []
          const statement = { genesisHash: input.genesisHash, name: sv.name, url, sequence: 1 }
          const signature = toHex(sv.scan.sign(encodeAddressStatement(statement)))
          return [{ publicUrl: url, svName: sv.name, sequence: 1, signature }]
        })
        return { headers, body: { scans: [{ domainId: genesis.synchronizerId, scans }] } }
      },
    },
    prefix: null,
    rateLimit: null,
    head: () => ({
      'x-ledger-head': String(replica.head().offset),
      'x-ledger-head-time': formatTime(replica.head().recordTime),
    }),
  })
}

function createGenesis(input: {
  readonly synchronizerKey: KeyPair
  readonly svs: readonly Sv[]
  readonly isDevnet: boolean
}): Genesis {
  return parseGenesis({
    version: 1,
    nonce: createKeyPair().seed,
    recordTime: createSystemClock().nowMicros(),
    synchronizerId: `synchronizer::${participantOfKey(input.synchronizerKey.publicKey)}`,
    synchronizerKey: input.synchronizerKey.publicKey,
    dso: `DSO::1220${'d0'.repeat(32)}`,
    nodes: input.svs.map((sv) => ({
      name: sv.name,
      scanKey: sv.scan.publicKey,
      operatorKey: sv.operator.publicKey,
    })),
    devnet: input.isDevnet,
    names: {
      entryFeeUsd: '1.0000000000',
      entryLifetimeMicros: 90 * DAY_MICROS,
      renewalDurationMicros: 30 * DAY_MICROS,
      descriptionPrefix: 'ANS entry: ',
      requestLifetimeMicros: DAY_MICROS,
      openRequestsMax: 16,
    },
    coin: {
      tickMicros: 600_000_000,
      priceUsd: '0.0050000000',
      rewardPerRound: '10.0000000000',
    },
    deduplicationMicrosMax: DAY_MICROS,
    activityRetentionMicros: 90 * DAY_MICROS,
  })
}
