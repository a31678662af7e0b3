/**
 * A super-validator goes back to the release before. Where that release does not know the format of the replica, or the
 * version of the protocol in force, it refuses before it writes, and the newer release continues with the same data.
 *
 * @module-tag long
 * @module-tag upgrade
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { send, untilRead, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { memberOf } from '@quorumscan/verifier'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { createUser, untilFound } from '../support/client.ts'
import {
  createNetwork,
  decide,
  type Operator,
  outputOf,
  run,
  runCli,
  stop,
  untilReady,
} from '../support/operators.ts'
import { ROOT } from '../support/root.ts'
import {
  buildCommitBefore,
  copySoftware,
  layoutOf,
  newestKnown,
  nextVersion,
  OTHER_LAYOUT,
} from '../support/software.ts'

const TAP_MAX = 10n ** 16n

/** All that the replica of the running operator has, as Redis stores it; without what processes note about themselves. */
async function replicaOf(operator: Operator): Promise<ReadonlyMap<string, string>> {
  const file = join(operator.machine.directory, 'var/sockets.json')
  const redis = new Redis({
    path: join(JSON.parse(readFileSync(file, 'utf8')).content.path, 'sv-1'),
  })
  try {
    const keys = (await redis.keys('{replica}:*')).sort()
    const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)))
    return new Map(keys.map((key, index) => [key, dumps[index]?.toString('hex') ?? '']))
  } finally {
    redis.disconnect()
  }
}

it('a release that does not know the format or the protocol refuses before it writes', async ({
  resources,
}) => {
  const network = resources.opened(await createNetwork({ ordering: 'redis', svCount: 1 }))
  const [sv] = network.svs
  if (sv === undefined) throw new Error('a member is needed')
  const install = async (bin: string) => {
    await stop(sv)
    sv.bin = bin
    run(sv)
  }
  const url = `https://${sv.machine.address}:4611`
  const codeOf = async () => {
    const answer = await send(`${url}/readyz`, { fetch: network.client.fetch }).catch(() => null)
    return answer === null ? null : (memberOf(answer.body, 'code') ?? answer.status)
  }
  const copy = (name: string, ...edits: Parameters<typeof copySoftware>[1]) =>
    copySoftware(join(network.machines.directory, name), edits)
  const old = sv.bin
  const [newer, relaid] = await Promise.all([
    copy('newer', nextVersion(TAP_MAX), OTHER_LAYOUT),
    copy('relaid', OTHER_LAYOUT),
  ])
  for (const operator of network.all) {
    operator.bin = newer
    run(operator)
  }
  for (const operator of network.all) await untilReady(operator)

  // Without the log, the replica of the newer release changes no more.
  const orderer = network.synchronizer as Operator
  await stop(orderer)
  const before = await untilRead(
    'the replica to rest',
    async () => [await replicaOf(sv), await replicaOf(sv)] as const,
    ([first, second]) => JSON.stringify([...first]) === JSON.stringify([...second]),
  )
  await install(old)
  await untilTrue('the old release to refuse the replica', () =>
    outputOf(sv).includes('written by a newer version of the software'),
  )
  expect(await replicaOf(sv)).toEqual(before[1])

  await install(newer)
  run(orderer)
  await untilReady(orderer)
  await untilReady(sv)
  const version = (await newestKnown(ROOT)) + 1
  await decide(network, sv, 'protocol', 'vote', String(version))
  await untilTrue('the version to be in force', async () => {
    const printed = await runCli(sv, 'protocol', 'get', '--json', '--scan', url)
    return JSON.parse(printed).version === version
  })

  await install(relaid)
  await untilRead(
    'the release with the old protocol to refuse',
    codeOf,
    (code) => code === 'SOFTWARE_OUTDATED',
  )
  const halted = await replicaOf(sv)
  await untilTrue('the log to have grown meanwhile', async () => {
    const status = await send(`https://${orderer.machine.address}:4611/status`, {
      fetch: network.client.fetch,
    })
    const { offset } = status.body.success.extra
    const own = (await send(`${url}/status`, { fetch: network.client.fetch })).body.success.extra
    return offset > own.offset
  })
  expect(await replicaOf(sv)).toEqual(halted)

  await install(newer)
  await untilReady(sv)
  await untilRead('the newer release to continue', codeOf, (code) => code === 200)
})

it('the release of the commit before runs next to this one, and takes its data back or refuses it', async ({
  resources,
}) => {
  const network = resources.opened(await createNetwork({ ordering: 'redis', svCount: 4 }))
  const [first, second] = network.svs as [Operator, Operator]
  const clone = join(network.machines.directory, 'before')
  const before = await buildCommitBefore(clone)
  const now = first.bin
  const install = async (operator: Operator, bin: string) => {
    await stop(operator)
    operator.bin = bin
    run(operator)
  }
  for (const operator of network.all) {
    operator.bin = before
    run(operator)
  }
  for (const operator of network.all) await untilReady(operator)
  const alice = await createUser(network.client, 'alice', '1000.0')
  await alice.pay('alice.unverified.ns')
  const areEqual = async () => {
    const flags = ['--genesis', 'etc/genesis.json', '--members', 'etc/members']
    const printed = await runCli(second, 'check', ...flags).catch(() => '')
    return printed.includes('all replicas are equal')
  }
  await untilTrue('all replicas to be equal before', areEqual)

  await install(first, now)
  await untilReady(first)
  await untilTrue('the newer release to have the same state', areEqual)
  await alice.pay('alice-2.unverified.ns')
  await untilFound(network.client, 'alice-2.unverified.ns')

  const isSameLayout = (await layoutOf(clone)) === (await layoutOf(ROOT))
  await install(first, before)
  if (isSameLayout) {
    await untilReady(first)
    await untilTrue('the older release to continue with the same state', areEqual)
  } else
    await untilTrue('the older release to refuse the replica', () =>
      outputOf(first).includes('written by a newer version of the software'),
    )
  await untilFound(network.client, 'alice.unverified.ns')
})
