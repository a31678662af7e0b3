import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createSystemClock } from '@quorumscan/base'
import { send, until } from '@quorumscan/testkit'
import type { Attack, Target } from './attack.ts'
import { open } from './wire.ts'

const NODE = 'sv-4'
const CONNECTIONS = 64
const MS = 2_000
const UNITS_PER_SECOND = 200
/** Twice the units of a full bucket and of its refill, because a busy machine may stop the test late. */
const ANSWERS_MAX = 2 * UNITS_PER_SECOND * (1 + MS / 1000)
const LOOKUP = '/v0/ans-entries/by-name/dso.ns'
const clock = createSystemClock()

/** Only health probes are exempt from rate limits. */
export const forgedHealthPath: Attack = {
  name: 'forged-health-path',
  claim:
    `Behind a trusted proxy, a client looks names up at a node on ${CONNECTIONS} connections by URLs that end in /livez, ` +
    `without pause. It gets at most ${ANSWERS_MAX} answers in ${MS} ms, like with any other URL. The others are refused; ` +
    'the proxy limits how many requests a client may send.',
  async run({ cluster }) {
    const url = cluster.urls.nodes[NODE] ?? ''
    await using _node = await startBehindProxy(cluster, url)
    const plain = await answersTo(url, LOOKUP, '203.0.113.1')
    const forged = await answersTo(url, `${LOOKUP}?/livez`, '203.0.113.2')
    return {
      // A server that answers nothing does not pass.
      holds: Math.min(plain, forged) > 0 && Math.max(plain, forged) <= ANSWERS_MAX,
      figures: {
        [`answers (at most ${ANSWERS_MAX})`]: plain,
        'answers by the forged URL': forged,
      },
    }
  },
}

/** Replaces the cluster's process of the node by one that trusts a proxy, with otherwise the same settings. */
async function startBehindProxy(cluster: Target['cluster'], url: string): Promise<AsyncDisposable> {
  const { nodes } = await cluster.status()
  const pid = nodes.find(({ name }) => name === NODE)?.pid
  if (pid == null) throw new Error(`${NODE} does not run`)
  const read = async (file: string) =>
    (await readFile(`/proc/${pid}/${file}`, 'utf8')).split('\0').filter(Boolean)
  const [command = '', ...args] = await read('cmdline')
  const variables = (await read('environ')).map((line) => {
    const end = line.indexOf('=')
    return [line.slice(0, end), line.slice(end + 1)] as const
  })
  const env = {
    ...Object.fromEntries(variables),
    QS_TRUSTED_PROXIES: '127.0.0.1',
    QS_RATE_LIMIT: String(UNITS_PER_SECOND),
    QS_PORT: new URL(url).port,
  }
  await cluster.kill(NODE, { part: 'scan' })
  const child = spawn(command, args, { env, stdio: 'ignore' })
  const end = async () => {
    const exited = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGKILL')) await exited
    await cluster.restart(NODE)
  }
  try {
    await until(`${NODE} behind a proxy`, async () => {
      if (child.exitCode !== null) throw new Error(`${NODE} ended with ${child.exitCode}`)
      const answer = await send(`${url}/readyz`).catch(() => null) // It does not listen yet.
      return answer?.status === 200 ? true : undefined
    })
  } catch (error) {
    await end()
    throw error
  }
  return { [Symbol.asyncDispose]: end }
}

/** Number of answers other than 429 that this client of the proxy gets within MS. */
async function answersTo(url: string, path: string, client: string): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${client}\r\n\r\n`
  let count = 0
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = open(url)
    socket.on('data', (bytes: Buffer) => {
      if (!bytes.toString('latin1', 0, 12).endsWith(' 429')) count++
      socket.write(request)
    })
    socket.write(request)
    return socket
  })
  await clock.delay(MS)
  for (const socket of sockets) socket.destroy()
  return count
}
