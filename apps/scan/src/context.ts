/** Everything that a scan node works with, opened in order and closed in the opposite one. */

import { EnvError, type KeyPair, openAll, readKeyPair, readParsed, toHex } from '@quorumscan/base'
import { createCertifier } from '@quorumscan/certifier'
import type { ScanConfig } from '@quorumscan/config'
import { readLogClientOptions } from '@quorumscan/config'
import { Jobs, measureJobs, measureQueues, operatorJobs, QUEUES_OF } from '@quorumscan/jobs'
import { NEWEST_RULES, payloadOf, readProtocol, scanAddress, svPartyOf } from '@quorumscan/ledger'
import {
  createGroupKeeper,
  createLogClient,
  createLogReader,
  type LogRoom,
  readKeptEnd,
  watchLogRoom,
} from '@quorumscan/log'
import { readRedisAddress, watchRedis } from '@quorumscan/redis'
import { measureProtocol, measureReplica, Replica } from '@quorumscan/replica'
import {
  createBackground,
  createPeerClocks,
  measureMargins,
  measureRedis,
  parsePeerTokens,
  REPLICA_STOPPED,
} from '@quorumscan/runtime'
import { type AppOverrides, beginApp, type HttpServer } from '@quorumscan/server'
import { createSnapshotStore } from '@quorumscan/snapshots'
import { createSubmitter } from '@quorumscan/submit'
import { type Genesis, maxFaulty, quorumOf } from '@quorumscan/verifier'
import { publishAddress } from './address.ts'
import { rebuildInTurn } from './rebuild/rebuild-in-turn.ts'

export type Overrides = AppOverrides & {
  /** Gives up waiting for the turn to make the replica anew. */
  readonly signal?: AbortSignal
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer; readonly context: Context }) => void
}

export type Context = Awaited<ReturnType<typeof createContext>>

/**
 * Opens connections, starts to follow the log and to work on what is due.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the node's Redis does not come up.
 * @throws {EnvError} If a key is not the one that the genesis names for this node.
 */
export async function createContext(config: ScanConfig, overrides: Overrides = {}) {
  const { nodeName } = config
  const app = await beginApp(nodeName, config, overrides)
  const { clock, random, logger, metrics, genesis, genesisHash } = app
  const { node, index } = nodeOf(genesis, nodeName)
  const scanKey = await readKey(config.scanKeyFile, node.scanKey)
  const operatorKey = await readKey(config.operatorKeyFile, node.operatorKey)
  const logOptions = await readLogClientOptions(config)
  const party = svPartyOf(node)
  /** Of callers who may ask for more (D-33). */
  const peerTokens = await readParsed(config.peerTokensFile, parsePeerTokens)

  /** One of so many nodes is honest. */
  const needed = maxFaulty(genesis.nodes.length) + 1
  const peers = config.nodes.filter(({ name }) => name !== nodeName)
  return openAll(async (resources) => {
    const clocks = resources.opened(
      createPeerClocks({
        ...app,
        peers,
        needed,
      }),
    )
    const redis = await readRedisAddress(config.redis)
    const directory = config.snapshotDirectory
    const snapshots = resources.opened(
      await createSnapshotStore({
        ...app,
        own: directory === null ? null : { name: nodeName, sign: scanKey.sign, directory },
        peers,
      }),
    )
    const replica = resources.opened(
      await Replica.create({
        redis,
        genesis,
        genesisHash,
        dueJobs: operatorJobs.map(({ name }) => name),
        snapshots,
        clock,
        onProblem: (error) => logger.warn({ err: error }, 'the replica waits'),
        rebuild: async (deleteStored) =>
          await rebuildInTurn(
            {
              ...app,
              ...{ nodeName, config, peers, peerTokens, clocks, snapshots },
              end: await readKeptEnd(redis),
              signal: overrides.signal ?? new AbortController().signal,
            },
            deleteStored,
          ),
      }),
    )
    clocks.follow(async () => {
      const addresses = await replica.lookups.documentsAsOf('ScanAddress', replica.head().offset)
      return addresses.map((contract) => payloadOf(scanAddress, contract))
    })
    const isLive = () => replica.state() === 'live'
    // As a validator that knows the same nodes counts, this one among them.
    measureMargins(metrics, () => {
      const count = clocks.followingCount() + (isLive() ? 1 : 0)
      return peers.length === 0
        ? []
        : [
            ['lookups', count - needed],
            ['registrations', count - quorumOf(genesis.nodes.length)],
          ]
    })
    measureReplica(metrics, replica, clock)
    measureProtocol(metrics, () => readProtocol(replica), NEWEST_RULES.version)
    measureRedis(metrics, resources.opened(watchRedis(redis)))
    const certifier = resources.opened(
      createCertifier({
        ...app,
        self: { name: nodeName, sign: (statement) => toHex(scanKey.sign(statement)) },
        peers,
        replica: replica.proofs,
      }),
    )
    const keeper = resources.opened(
      createGroupKeeper({
        redis,
        onProblem: (error) => logger.warn({ err: error }, 'groups of the log are not kept'),
      }),
    )
    const log = resources.opened(createLogClient({ ...logOptions, tracer: app.tracer }))
    const logRoom: LogRoom = resources.opened(watchLogRoom({ ...app, log }))
    const ordering = createLogReader({
      log,
      genesis: { ...genesis, hash: genesisHash },
      keep: keeper.keep,
      clock,
      random,
      onProblem: (error) => logger.warn({ err: error }, 'the log'),
    })
    const submitter = createSubmitter({
      ordering,
      ledger: replica,
      genesisHash,
      keyPair: operatorKey,
      clock,
      random,
    })
    const jobs = resources.opened(
      await Jobs.create({
        redis,
        prefix: QUEUES_OF.scan.prefix,
        definitions: measureJobs(app, operatorJobs),
        deps: { ledger: replica, submit: submitter.submit, party, userId: nodeName },
        ledger: replica,
        isLive,
        member: { index, count: genesis.nodes.length },
        clock,
        random,
        log: logger,
      }),
    )
    measureQueues(metrics, jobs)

    const closing = new AbortController()
    const { signal } = closing
    const background = createBackground({ logger, signal })
    const follow = async (): Promise<void> => {
      await replica.run(ordering, signal)
      const err = replica.standstill()
      // Lookups go on at the head that was reached; `/readyz` says why there is no other.
      if (err !== null) logger.error({ err }, 'the replica goes no further')
    }
    background.run(REPLICA_STOPPED, follow())

    return {
      ...app,
      config,
      peerTokens,
      nodeName,
      party,
      scanKey,
      clocks,
      certifier,
      snapshots,
      log,
      logRoom,
      replica,
      jobs,
      /** Resolves with the reason when the node cannot go on: a bug, or a replica of other software. */
      failed: background.failed,
      /** Puts the address on the ledger in the background, as soon and as often as needed (D-34). */
      publishAddress(url: string): void {
        const work = publishAddress({
          ledger: replica,
          submitter,
          isLive,
          genesisHash,
          nodeName,
          party,
          scanKey,
          url,
          clock,
          random,
          signal,
          onRetry: (error) => logger.info({ err: error }, 'the address is not on the ledger yet'),
        }).then(() => logger.info({ url }, 'the address is on the ledger'))
        background.run('publishing the address ended', work)
      },
      async [Symbol.asyncDispose](): Promise<void> {
        closing.abort(new Error('the node is stopping'))
        await background.ended()
        await resources[Symbol.asyncDispose]()
      },
    }
  })
}

function nodeOf(genesis: Genesis, name: string) {
  const index = genesis.nodes.findIndex((node) => node.name === name)
  const node = genesis.nodes[index]
  if (node === undefined)
    throw new EnvError(`QS_NODE_NAME: the genesis has no node ${JSON.stringify(name)}`)
  return { node, index }
}

async function readKey(path: string, publicKey: string): Promise<KeyPair> {
  const keyPair = await readKeyPair(path)
  if (keyPair.publicKey !== publicKey)
    throw new EnvError(`${path} is not the key that the genesis names for this node`)
  return keyPair
}
