/** A change of rules, as each operator confirms it by itself. */
import { startNetwork } from '@quorumscan/scan/testing'
import { until } from '@quorumscan/testkit'
import { afterEach, expect, it, vi } from 'vitest'
import { runCommandLine } from './program.ts'

afterEach(() => vi.restoreAllMocks())

/** What a command prints. */
async function type(args: readonly string[]): Promise<string> {
  let text = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  try {
    expect(await runCommandLine(args, { cwd: '/somewhere', redisServer: 'none' })).toBe(0)
    return text
  } finally {
    write.mockRestore()
  }
}

it('is in force when enough have confirmed the same, each with its own key alone', async () => {
  await using network = await startNetwork(2)
  await using node = await network.startNode(0)
  const [first, second] = await Promise.all([0, 1].map(network.config))
  const { log, genesisFile } = network.shared
  const confirm = (keyFile: string | undefined, change: string) => [
    ...['config', 'set', change, '--json', '--key', keyFile ?? '', '--genesis', genesisFile],
    ...['--scan', node.url, '--synchronizer', log.url, '--token-file', log.tokenFile],
  ]
  const set = async (keyFile: string | undefined, change: string) =>
    JSON.parse(await type(confirm(keyFile, change)))
  await until('the node', async () => ((await fetch(`${node.url}/readyz`)).ok ? true : undefined))

  const one = await set(first?.operatorKeyFile, 'entry-fee=3')
  expect(one).toMatchObject({ confirmedBy: network.genesis.nodes[0]?.name, isInForce: false })
  // Its own second word is no second one, and another change of the other one none for the same.
  expect(await set(first?.operatorKeyFile, 'entry-fee=3')).toMatchObject({ isInForce: false })
  expect(await set(second?.operatorKeyFile, 'entry-fee=4')).toMatchObject({ isInForce: false })

  const rules = await until('the change', async () => {
    const told = await set(second?.operatorKeyFile, 'entry-fee=3')
    return told.isInForce ? told : undefined
  })
  expect(rules.config.entryFeeUsd).toBe('3.0000000000')
  expect(rules.contractId).not.toBe(one.contractId)
  // Whoever comes later has nothing to confirm.
  expect(await set(first?.operatorKeyFile, 'entry-fee=3')).toMatchObject({ confirmedBy: null })

  await expect(type(confirm(first?.scanKeyFile, 'entry-fee=5'))).rejects.toThrow(
    'the operator key of no super-validator',
  )
  await expect(type(confirm(first?.operatorKeyFile, 'entry-lifetime=99999d'))).rejects.toThrow(
    'within a century',
  )
  await expect(type(confirm('nowhere', 'entry-fee=5'))).rejects.toThrow('nowhere')
})
