import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEngineLog } from './engine-log.ts'

function setUp() {
  const clock = createManualClock()
  const said: string[] = []
  const say = (level: string) => (fields: unknown, text?: string) =>
    said.push([level, text ?? fields, JSON.stringify(text === undefined ? {} : fields)].join(' '))
  const logger = {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
  } as never
  const world = { clock, isStopping: false, said }
  const log = createEngineLog({ clock, logger })
  const write = (line: string) => log(line, world.isStopping)
  const engine = (_msg: string, fields: object = {}) =>
    write(
      JSON.stringify({
        _msg,
        level: 'error',
        module: 'p2p',
        ts: '2030-01-31T12:00:00Z',
        ...fields,
      }),
    )
  return Object.assign(world, { write, engine })
}

const dial = (host: string) => ({ err: `dial tcp ${host}:26656: connect: connection refused` })

it('a peer that is down is one line a minute, and hides no other one', async () => {
  const world = setUp()
  for (let second = 0; second < 120; second += 2) {
    world.engine('Error dialing peer', dial('198.51.100.2'))
    if (second === 10) world.engine('Error dialing peer', dial('198.51.100.3'))
    await world.clock.advance(2_000)
  }
  expect(world.said).toEqual([
    expect.stringMatching(/^warn engine: Error dialing peer .*100\.2/),
    expect.stringMatching(/^warn engine: Error dialing peer .*100\.3/),
    expect.stringMatching(/^warn .*100\.2:26656.*"suppressed":29/),
  ])
})

it.each([
  ['Stopping peer for error', { err: 'EOF', peer: 'Peer{MConn{198.51.100.2:26656} aba3 out}' }],
  [
    'Failed to reconnect to peer. Beginning exponential backoff',
    { addr: 'aba3@sv-2.example:26656' },
  ],
  ['SendTimeout', { module: 'blocksync', peer: '2dbf7fb604493e0f176659a0d764c7f1cad4e9f3' }],
  ['Error dialing peer', { err: 'lookup sv-2.example: no such host' }],
  ['Error dialing peer', { err: 'dial tcp [2001:db8::2]:26656: i/o timeout' }],
])('"%s" is about a peer, and no error of this process', (text, fields) => {
  const world = setUp()
  world.engine(text, fields)
  world.engine(text, fields)
  expect(world.said).toEqual([expect.stringContaining(`warn engine: ${text}`)])
})

it.each([
  ['Error stopping pool', { module: 'blocksync', err: 'already stopped' }],
  ['error while stopping peer', { error: 'already stopped' }],
  ['Stopped accept routine, as transport is closed', { numPeers: 0 }],
  ['Error serving server', { err: 'accept unix /a: use of closed network connection' }],
])('"%s" of an engine that was signalled is no error', (text, fields) => {
  const world = setUp()
  world.engine(text, fields)
  expect(world.said).toEqual([expect.stringContaining(`debug engine: ${text}`)])
})

it('other errors stay errors, and those of a stop are none', () => {
  const world = setUp()
  world.engine('CONSENSUS FAILURE!!!', { module: 'consensus' })
  world.write('panic: runtime error')
  world.write('')
  expect(world.said).toEqual([
    expect.stringContaining('error engine: CONSENSUS FAILURE!!!'),
    'error engine: panic: runtime error {}',
  ])
  world.said.length = 0
  world.isStopping = true
  world.engine('Error serving server', { module: 'main', err: 'use of closed network connection' })
  world.engine('Stopping peer for error', { peer: 'Peer{MConn{127.0.0.1:1} aba3 in}' })
  world.write('panic: again')
  expect(world.said.every((line) => line.startsWith('debug '))).toBe(true)
  expect(world.said).toHaveLength(3)
})
