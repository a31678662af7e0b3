/** For tests: members with real engines, each with a synchronizer in this process and a Redis of its own. */

import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createKeyPair, createSystemClock, type KeyPair, systemRandom } from '@quorumscan/base'
import { nodeIdOf, VOTE_STATE_FILE, voteStateAt } from '@quorumscan/cometbft'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import type { LogEntry } from '@quorumscan/ledger'
import { createLogClient, createOrderingClient } from '@quorumscan/log'
import { parseMember, writeMember } from '@quorumscan/operator'
import { createGenesis, hashGenesis, logGenesisOf } from '@quorumscan/operator/ceremony'
import { forceVote } from '@quorumscan/operator/engine'
import { createLogger } from '@quorumscan/runtime'
import type { RunningApp } from '@quorumscan/server'
import { startSynchronizer } from '@quorumscan/synchronizer'
import { createDirectory, freePort, startRedis } from '@quorumscan/testkit'
import type { Genesis } from '@quorumscan/verifier'
import { enginePath } from './engine.ts'
import { type Propose, startProposer } from './proposer.ts'

const TOKEN = 'token-of-a-peer-of-the-synchronizer'
const HOST = '127.0.0.1'
/** No process listens there. */
const NOWHERE = `http://${HOST}:1`
const clock = createSystemClock()

type Key = {
  readonly name: string
  readonly votingKey: KeyPair
  readonly nodeKey: KeyPair
  readonly port: number
}

export type Member = Awaited<ReturnType<typeof createMember>>

export type MembersOptions = {
  /** Starts an additional engine, which votes with the key of the first member. */
  readonly withTwin?: boolean
  /** Replaces the entries that the first member proposes. */
  readonly propose?: Propose
}

export async function startMembers(count: number, options: MembersOptions = {}) {
  const { withTwin = false, propose = null } = options
  const { path: directory, ...temporary } = createDirectory()
  const keys = await Promise.all(
    Array.from(
      { length: count },
      async (_, index): Promise<Key> => ({
        name: `sv-${index + 1}`,
        votingKey: createKeyPair(),
        nodeKey: createKeyPair(),
        port: await freePort(),
      }),
    ),
  )
  const [first] = keys
  const twin =
    withTwin && first !== undefined
      ? { ...first, name: 'twin', nodeKey: createKeyPair(), port: await freePort() }
      : null
  const createdAtMicros = clock.nowMicros()
  const parsed = keys.map(({ name, votingKey, nodeKey }) =>
    parseMember(
      writeMember(
        'super-validator',
        { name, createdAtMicros, url: null, engineAddress: null },
        { scan: createKeyPair(), operator: createKeyPair(), voting: votingKey, engine: nodeKey },
      ),
    ),
  )
  const genesis = createGenesis(parsed, {
    driver: 'cometbft',
    overrides: {
      ordering: { timeouts: { proposeMicros: 500_000, emptyBlockMicros: 1_000_000 } },
    },
  })
  await writeFile(join(directory, 'genesis.json'), JSON.stringify(genesis))
  await writeFile(join(directory, 'peers'), `${TOKEN}\n`)
  const members = await Promise.all(
    [...keys, ...(twin === null ? [] : [twin])].map((key) =>
      createMember({
        directory,
        key,
        keys,
        twin,
        genesis,
        propose: key === first ? propose : null,
      }),
    ),
  )
  return {
    genesis,
    genesisHash: hashGenesis(genesis),
    members,
    directory,
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.end()
      temporary[Symbol.dispose]()
    },
  }
}

async function createMember(options: {
  readonly directory: string
  readonly key: Key
  readonly keys: readonly Key[]
  readonly twin: Key | null
  readonly propose: Propose | null
  readonly genesis: Genesis
}) {
  const { directory, key, keys, twin, genesis } = options
  const home = join(directory, key.name)
  const peers = keys
    .filter((other) => other !== key)
    .map((other) => `${nodeIdOf(other.nodeKey.publicKey)}@${HOST}:${other.port}`)
  const redis = await startRedis()
  await mkdir(join(home, 'data'), { recursive: true })
  await writeFile(join(home, VOTE_STATE_FILE), voteStateAt(0))
  const votingKeyFile = join(directory, `${key.name}.voting`)
  const nodeKeyFile = join(directory, `${key.name}.node`)
  await writeFile(votingKeyFile, key.votingKey.seed)
  await writeFile(nodeKeyFile, key.nodeKey.seed)
  const sockets = join(directory, `${key.name}.s`)
  const { propose } = options
  const proposer =
    propose === null ? null : await startProposer({ abci: `${sockets}.abci`, home, propose })
  let synchronizer: RunningApp | null = null
  const logger = createLogger({ name: key.name, level: 'silent' })
  const program = enginePath ?? ''
  const address = `${HOST}:${key.port}`

  const stop = async () => {
    await synchronizer?.[Symbol.asyncDispose]()
    synchronizer = null
  }
  const url = () => synchronizer?.url ?? NOWHERE
  return {
    name: key.name,
    url,
    stop,
    async start() {
      synchronizer ??= await startSynchronizer(
        {
          genesisFile: join(directory, 'genesis.json'),
          host: HOST,
          port: 0,
          logLevel: 'silent',
          tracesEndpoint: null,
          peersFile: null,
          connections: PLAIN_CONNECTIONS,
          ordering: {
            driver: 'cometbft',
            redis: { place: { path: redis.socketPath } },
            engine: { program, home, sockets, address, nodeKeyFile, votingKeyFile },
            engines: {
              peers,
              followers: twin === null ? [] : [nodeIdOf(twin.nodeKey.publicKey)],
            },
          },
          logDirectory: null,
          diskFreeMibMin: 0,
          logKeepSeconds: 86_400,
          // No node confirms a clock here: block time comes from the members.
          nodes: genesis.nodes.map(({ name }) => ({ name, url: NOWHERE })),
          rateLimit: 100_000,
          entryRates: { anonymous: 10_000, peer: 10_000, superValidator: 10_000 },
          peerTokensFile: join(directory, 'peers'),
          nodeTokensFile: null,
        },
        { logger, ...(proposer && { spawnEngine: proposer.spawnEngine }) },
      )
    },
    /** SIGKILL. */
    async killEngine() {
      const pid = await enginePidOf(home)
      if (pid !== null) process.kill(pid, 'SIGKILL')
    },
    /** Stops its Redis (SIGSTOP): a decided block waits to be stored. */
    hangRedis() {
      process.kill(redis.pid, 'SIGSTOP')
    },
    resumeRedis() {
      process.kill(redis.pid, 'SIGCONT')
    },
    /** Deletes all data except the keys, as a disk failure does. Stop the member first. */
    async loseDisk() {
      await rm(home, { recursive: true })
      const client = redis.connect()
      await client.flushall()
      client.disconnect()
    },
    /** Runs `cometbft vote`. */
    forceVote: () => forceVote(home, clock),
    /** The last height for which the engine signed a vote. */
    async voteState(): Promise<{ readonly height: number } | null> {
      const text = await readFile(join(home, VOTE_STATE_FILE), 'utf8').catch(() => null)
      return text === null ? null : { height: Number(JSON.parse(text).height) }
    },
    async submit(bytes: Uint8Array) {
      await using client = createLogClient({ url: url(), token: TOKEN })
      await client.submit(bytes, AbortSignal.timeout(60_000))
    },
    /** Reads the log up to this offset, as a follower does. */
    async readTo(offset: number): Promise<readonly LogEntry[]> {
      await using log = createLogClient({ url: url(), token: TOKEN })
      const stopping = new AbortController()
      const entries: LogEntry[] = []
      const network = { log, genesis: logGenesisOf(genesis) }
      const reader = createOrderingClient({ ...network, clock, random: systemRandom })
      const request = { from: 0, expected: null, batchEntriesMax: 1000, signal: stopping.signal }
      for await (const batch of reader.follow(request)) {
        entries.push(...batch)
        if ((entries.at(-1)?.offset ?? 0) >= offset) stopping.abort()
      }
      return entries.slice(0, offset)
    },
    async end() {
      await stop()
      await proposer?.[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}

/** Finds the process whose home is this directory. */
async function enginePidOf(home: string): Promise<number | null> {
  const { stdout } = await promisify(execFile)('pgrep', ['-f', `start --home ${home}$`]).catch(
    () => ({ stdout: '' }), // No such process.
  )
  return stdout === '' ? null : Number(stdout.trim())
}
