/** Opens everything that a scan node works with, and closes it in the opposite order. */

import { EnvError, type KeyPair, openAll, readKeyPair } from '@quorumscan/base'
import { assertRewardsLeave, nodeIn, type ScanConfig } from '@quorumscan/config'
import { openFollower } from '@quorumscan/follower'
import { dueJobsOf, openJobs, QUEUES_OF } from '@quorumscan/jobs'
import { svPartyOf } from '@quorumscan/ledger'
import { readStoredEnd } from '@quorumscan/log'
import { type AppOverrides, createAppBase } from '@quorumscan/server'
import { createSubmitter } from '@quorumscan/submit'
import { memberSetOf } from '@quorumscan/verifier'
import { publishAddress } from './address.ts'
import { rebuildInTurn } from './rebuild/rebuild-in-turn.ts'

export type Overrides = AppOverrides & {
  /** Ends the wait for the node's turn to rebuild its replica. */
  readonly signal?: AbortSignal
}

export type ScanParts = Awaited<ReturnType<typeof openScan>>

/**
 * Opens connections, and starts to follow the log and to process what is due.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the node's Redis does not answer.
 * @throws {EnvError} If a key is not the one that the genesis names for this node.
 */
export async function openScan(config: ScanConfig, overrides: Overrides = {}) {
  const { nodeName, rewards } = config
  // Its synchronizer asks it what entries would do, often: one secret makes each a peer of the other.
  const ownTokenFile = config.log.tokenFile
  const app = await createAppBase(nodeName, { ...config, ownTokenFile }, overrides)
  const { clock, random, logger, genesis, genesisHash } = app
  const { node, index } = nodeIn(config, genesis)
  const scanKey = await readKey(config.scanKeyFile, node.scanKey)
  const operatorKey = await readKey(config.operatorKeyFile, node.operatorKey)
  const party = svPartyOf(node)
  assertRewardsLeave(config, party)
  const peers = app.nodes.filter(({ name }) => name !== nodeName)
  return openAll(async (resources) => {
    const follower = resources.opened(
      await openFollower(app, {
        config,
        peers,
        member: { name: nodeName, scanKey, snapshotDirectory: config.snapshotDirectory },
        dueJobs: dueJobsOf('scan'),
        async rebuild(deleteStored, { redis, client, clocks, snapshots }) {
          const end = await readStoredEnd(redis)
          const { signal = new AbortController().signal } = overrides
          const waiting = { app, config, peers, client, clocks, snapshots, end, signal }
          await rebuildInTurn(waiting, deleteStored)
        },
      }),
    )
    const { isLive, ordering, redis, replica: ledger } = follower
    const submitter = createSubmitter({
      genesisHash,
      keyPair: operatorKey,
      ordering,
      ledger,
      clock,
      random,
    })
    resources.opened(
      await openJobs(app, {
        ...QUEUES_OF.scan,
        redis,
        ledger,
        isLive,
        deps: { ledger, submit: submitter.submit, party, userId: nodeName, rewards },
        turn: { index, count: memberSetOf(genesis).n },
      }),
    )
    const background = resources.opened(follower.follow(ordering))
    return {
      app,
      follower,
      config,
      party,
      scanKey,
      /** Resolves with the reason when the node cannot continue: a bug, or a replica of another layout. */
      failed: background.failed,
      /** Puts the address on the ledger in the background, as soon and as often as needed (D-34). */
      publishAddress(url: string): void {
        const { signal } = background
        const identity = { name: nodeName, genesisHash, party, scanKey }
        const publisher = { ...identity, ledger, submitter, isLive, signal, clock, random, logger }
        const work = publishAddress(publisher, url)
        background.run('could not publish the address of the node; the process ends', work)
      },
    }
  })
}

async function readKey(path: string, publicKey: string): Promise<KeyPair> {
  const keyPair = await readKeyPair(path)
  if (keyPair.publicKey !== publicKey)
    throw new EnvError(`${path} is not the key that the genesis names for this node`)
  return keyPair
}
