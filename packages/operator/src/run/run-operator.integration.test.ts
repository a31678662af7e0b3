/** `run` with real processes, of which one finds that its configuration is wrong. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSystemClock } from '@quorumscan/base'
import { UsageError } from '@quorumscan/runtime'
import { required } from '@quorumscan/testkit'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { expect, it } from 'vitest'
import { makeMember } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { readOperatorConfig } from './operator-config.ts'
import { validateProcesses } from './operator-services.ts'
import { runOperator } from './run-operator.ts'

const root = directoryOfFile()
const members = join(root, 'members')
mkdirSync(members)

function enroll<R extends 'super-validator' | 'synchronizer'>(role: R, name: string) {
  const directory = dataDirectory(join(root, name))
  const url = role === 'synchronizer' ? null : `https://${name}.example`
  const member = makeMember(directory, role, { name, createdAtMicros: 1, url, engineAddress: null })
  copyFileSync(directory.memberFile(name), join(members, `${name}.member.json`))
  return member
}

const appMain = (app: string) =>
  fileURLToPath(new URL(`../../../../apps/${app}/dist/main.js`, import.meta.url))

it('stops all processes, without a restart, if one finds its configuration wrong', async () => {
  const document = createGenesis(
    [enroll('super-validator', 'sv-1'), enroll('synchronizer', 'orderer')],
    { driver: 'redis', overrides: {} },
  )
  writeFileSync(join(root, 'genesis.json'), JSON.stringify(document))
  const file = join(root, 'run.env')
  const variables = {
    QS_NAME: 'orderer',
    QS_DATA_DIR: join(root, 'orderer'),
    QS_GENESIS: join(root, 'genesis.json'),
    QS_MEMBERS: members,
    QS_PORT: '0',
    // Only the process compares this with the genesis.
    QS_NODES: 'sv-9=https://sv-9.example',
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  writeFileSync(file, lines.join('\n'))
  const said: string[] = []
  await using running = await runOperator({
    config: readOperatorConfig('synchronizer', file, validateProcesses),
    redisServer: required('redis'),
    entryFiles: { scan: '', synchronizer: appMain('synchronizer'), validator: '' },
    env: process.env,
    clock: createSystemClock(),
    report: (sentence) => said.push(sentence),
  })
  const failed = expect(running.failed).rejects
  await failed.toBeInstanceOf(UsageError)
  await failed.toThrow(
    'the configuration is wrong: orderer exited; its last log line has the reason',
  )
  expect(said.join()).not.toContain('started again')
})
