/** A broken process that sends arbitrary replies on its control socket. */
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { CommandError } from '@quorumscan/runtime'
import { createDirectory, serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createAgentClient, startAgent } from './agent.ts'
import { faultSocketOf } from './fault-sockets.ts'

function createWorld() {
  const directory = createDirectory()
  const env = { QS_FAULT_SOCKETS: join(directory.path, 'sv-1') }
  const service = { name: 'sv-1', owner: 'sv-1', app: { env } }
  const noted: string[] = []
  const askAgent = createAgentClient((_, sentence) => noted.push(sentence))
  return { service, askAgent, noted, [Symbol.dispose]: () => directory[Symbol.dispose]() }
}

const pruned = { horizon: 7 }

it('accepts every reply of a healthy agent', async () => {
  using world = createWorld()
  const agent = await startAgent(faultSocketOf(world.service), {
    '/prune': async (body) => {
      if (body === 'it') return pruned
      throw new CommandError('not now')
    },
  })
  const { askAgent, service } = world
  expect(await askAgent(service, '/prune', 'it')).toEqual(pruned)
  await expect(askAgent(service, '/prune', {})).rejects.toThrow('not now')
  await expect(askAgent(service, '/engine/restart')).rejects.toThrow('unknown path /engine')
  expect(world.noted).toEqual([])
  agent.close()
})

it('refuses a malformed reply as an error of that process, and reports the first', async () => {
  using world = createWorld()
  let respond: (response: ServerResponse) => unknown = () => {}
  await using _server = await serve((_, response) => respond(response), {
    at: faultSocketOf(world.service),
  })
  const ask = (answer: typeof respond) => {
    respond = answer
    return world.askAgent(world.service, '/prune')
  }
  const replies: readonly (readonly [string, typeof respond])[] = [
    ['it is not JSON', (response) => response.end('rubbish')],
    ['it is not JSON', (response) => response.writeHead(500).end('<html>')],
    ['it is not JSON', (response) => response.end()],
    ['expected object', (response) => response.end('[]')],
    ['horizon: Invalid input: expected number', (response) => response.end('{}')],
    ['longer than', (response) => response.end(`"${'x'.repeat(5 * 2 ** 20)}"`)],
  ]
  for (const [why, answer] of replies)
    await expect(ask(answer), why).rejects.toThrow(
      expect.objectContaining({ message: expect.stringContaining(why) }),
    )
  await expect(ask((response) => response.writeHead(500).end('{}'))).rejects.toThrow('HTTP 500')
  await expect(ask((response) => response.destroy())).rejects.toThrow(CommandError)
  expect(world.noted).toEqual([
    'sv-1: its control socket sent a malformed reply to /prune: it is not JSON',
  ])

  await ask((response) => response.end(JSON.stringify(pruned)))
  await expect(ask((response) => response.end('1'))).rejects.toThrow('expected object')
  expect(world.noted).toHaveLength(2)
})
