/** The example page of the SDK, started by its command. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestCluster } from '@quorumscan/sdk/testing'

const FOLDER = join(import.meta.dirname, '../../sdk/examples/send-page')

/** @returns Its address, for the user of the token. */
export async function startSendPage(cluster: TestCluster, user: string) {
  const variables = {
    SEED: cluster.seeds.join(),
    GENESIS_HASH: cluster.genesisHash,
    VALIDATOR: cluster.validatorUrl,
    TOKEN: await cluster.token(user),
    NO_COLOR: '1',
  }
  const child = spawn('npm', ['start'], {
    cwd: FOLDER,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // A group of its own, which ends as a whole.
  })
  const end = async () => {
    const ended = once(child, 'exit')
    process.kill(-Number(child.pid), 'SIGTERM')
    await ended
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/localhost:\d+\//.exec(line) ?? []
    if (url !== undefined) return { url, [Symbol.asyncDispose]: end }
  }
  throw new Error(`npm start ended in ${FOLDER}`)
}
