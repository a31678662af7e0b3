/** A replica that is deleted while its process is stopped. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { withRedis } from '@quorumscan/redis'
import { required } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { makeMember } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { acquireLock } from './directory-lock.ts'
import { readOperatorConfig } from './operator-config.ts'
import { openOwnRedis } from './own-redis.ts'
import { wipeReplica } from './wipe-replica.ts'

const clock = createSystemClock()
const OWN_KEYS = ['{jobs}:queue', '{log}:groups', '{users}:records']

const it = base
  /** A super-validator and a synchronizer, of the network that they make together. */
  .extend('nodes', ({ directory: root }) => {
    const members = join(root, 'members')
    mkdirSync(members)
    const enroll = (role: 'super-validator' | 'synchronizer', name: string) => {
      const directory = dataDirectory(join(root, name))
      const url = role === 'super-validator' ? `https://${name}.example` : null
      const member = makeMember(directory, role, {
        name,
        createdAtMicros: 1,
        url,
        engineAddress: null,
      })
      copyFileSync(directory.memberFile(name), join(members, `${name}.member.json`))
      return member
    }
    const genesis = createGenesis(
      [enroll('super-validator', 'sv-1'), enroll('synchronizer', 'orderer')],
      { driver: 'redis', overrides: {} },
    )
    writeFileSync(join(root, 'genesis.json'), JSON.stringify(genesis))
    return (runs: 'sv' | 'synchronizer') => {
      const name = runs === 'sv' ? 'sv-1' : 'orderer'
      const file = join(root, `${name}.env`)
      const variables = {
        QS_NAME: name,
        QS_DATA_DIR: join(root, name),
        QS_GENESIS: join(root, 'genesis.json'),
        QS_MEMBERS: members,
      }
      const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`)
      writeFileSync(file, lines.join('\n'))
      const config = readOperatorConfig(runs, file, () => [])
      return { config, clock, redisServer: required('redis'), env: process.env }
    }
  })
  /** A stopped super-validator with a replica, and with other data in its Redis. */
  .extend('node', async ({ nodes }) => {
    const node = nodes('sv')
    await using own = await openOwnRedis(node)
    await withRedis(own.redis, 'wipe', async (redis) => {
      for (const key of OWN_KEYS) await redis.set(key, 'kept')
      for (const key of ['lex', 'c:00']) await redis.set(`{replica}:${key}`, 'old')
      await redis.hset('{replica}:names', 'alice', 'of nobody')
    })
    return node
  })
  .extend('keys', ({ node }) => async () => {
    await using own = await openOwnRedis(node)
    return await withRedis(own.redis, 'wipe', async (redis) => (await redis.keys('*')).sort())
  })

it('deletes the replica, and keeps all else', async ({ node, keys }) => {
  expect(await wipeReplica(node)).toEqual({ keyCount: 3, offset: 0, rebuildSecondsMax: 0 })
  expect(await keys()).toEqual(OWN_KEYS)
  expect(await wipeReplica(node)).toMatchObject({ keyCount: 0 })
})

it('deletes nothing while the processes run', async ({ node, keys }) => {
  const before = await keys()
  {
    await using _running = await acquireLock(node.config.directory, clock)
    await expect(wipeReplica(node)).rejects.toThrow(
      `nothing was deleted: process ${process.pid} runs the processes of ${node.config.directory.path}. Stop it first`,
    )
  }
  expect(await keys()).toEqual(before)
})

it('deletes no log of a synchronizer', async ({ nodes }) => {
  await expect(wipeReplica(nodes('synchronizer'))).rejects.toThrow(
    'nothing was deleted: a synchronizer has no replica',
  )
})
