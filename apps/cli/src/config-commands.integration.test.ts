/**
 * A change of rules, which each operator confirms with its own key.
 *
 * @module-tag rest
 */

import { readFileSync } from 'node:fs'
import { createSystemClock, keyPairFromSeed } from '@quorumscan/base'
import { confirmSetProtocolVersionCommand } from '@quorumscan/ledger'
import { confirm } from '@quorumscan/operator'
import { startNetwork } from '@quorumscan/scan/testing'
import { createAuthority, serve, until } from '@quorumscan/testkit'
import { captureOutput } from '@quorumscan/testkit/fixtures'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { afterEach, expect, it, vi } from 'vitest'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

afterEach(() => vi.unstubAllEnvs())

/** The output of a command. */
async function type(args: readonly string[]): Promise<string> {
  using output = captureOutput()
  expect(await runCommandLine(args, testEnvironment())).toBe(0)
  return output.stdout
}

async function startMembers() {
  const network = await startNetwork(2)
  const node = await network.startNode(0)
  const configs = await Promise.all([0, 1].map(network.config))
  const { log, genesisFile } = network.shared
  await until('the node', async () => ((await fetch(`${node.url}/readyz`)).ok ? true : undefined))
  return {
    network,
    node,
    keys: configs.map(({ operatorKeyFile }) => operatorKeyFile),
    scanKeys: configs.map(({ scanKeyFile }) => scanKeyFile),
    own: (keyFile: string | undefined) => [
      '--json',
      '--key',
      keyFile ?? '',
      '--genesis',
      genesisFile,
      '--scan',
      node.url,
      '--synchronizer',
      log.url,
      '--token-file',
      log.tokenFile,
    ],
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}

it('a change of rules is in force once enough operators confirm it with their keys', async () => {
  await using members = await startMembers()
  const { network, node, own } = members
  const [first, second] = members.keys
  const confirm = (keyFile: string | undefined, change: string) => [
    'config',
    'set',
    change,
    ...own(keyFile),
  ]
  const set = async (keyFile: string | undefined, change: string) =>
    JSON.parse(await type(confirm(keyFile, change)))

  const one = await set(first, 'entry-fee=3')
  expect(one).toMatchObject({ confirmedBy: network.genesis.nodes[0]?.name, isInForce: false })
  // Neither its second confirmation nor one of another change counts.
  expect(await set(first, 'entry-fee=3')).toMatchObject({ isInForce: false })
  expect(await set(second, 'entry-fee=4')).toMatchObject({ isInForce: false })

  const pending = JSON.parse(await type(['config', 'pending', '--json', '--scan', node.url]))
  expect(pending).toMatchObject({
    needed: 2,
    pending: [
      { confirmedBy: ['sv-1'], change: { entryFeeUsd: '3.0000000000' } },
      { confirmedBy: ['sv-2'], change: { entryFeeUsd: '4.0000000000' } },
    ],
  })
  expect(await type(['config', 'pending', '--scan', node.url])).toMatch(
    /confirmed by sv-2 \(1 of 2\), first at .*:\n {2}entry-fee +4\.0000000000 USD/,
  )

  const rules = await until('the change', async () => {
    const told = await set(second, 'entry-fee=3')
    return told.isInForce ? told : undefined
  })
  expect(rules.config.entryFeeUsd).toBe('3.0000000000')
  expect(rules.contractId).not.toBe(one.contractId)
  // A later operator has nothing to confirm.
  expect(await set(first, 'entry-fee=3')).toMatchObject({ confirmedBy: null })

  await expect(type(confirm(members.scanKeys[0], 'entry-fee=5'))).rejects.toThrow(
    'is not the operator key of a super-validator of this genesis',
  )
  await expect(type(confirm(first, 'entry-lifetime=99999d'))).rejects.toThrow('within a century')
  await expect(type(confirm(first, 'renewal-duration=91d'))).rejects.toThrow(
    'the renewal window (renewal-duration, 91d) would be longer than the lifetime of a name (entry-lifetime, 90d)',
  )
  await expect(type(confirm('nowhere', 'entry-fee=5'))).rejects.toThrow('nowhere')
})

it('a confirmation reaches a synchronizer with a certificate of the authority in QS_PEER_CA', async () => {
  await using members = await startMembers()
  await using authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('synchronizer')
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  const asked: unknown[] = []
  await using synchronizer = await serve(
    ({ url, headers }, response) => {
      asked.push([url, headers['x-peer-token']])
      response.end('{}')
    },
    { tls },
  )
  const token = readFileSync(members.network.shared.log.tokenFile, 'utf8').trim()
  const confirm = () =>
    type([
      'config',
      'set',
      'entry-fee=3',
      ...members.own(members.keys[0]),
      '--synchronizer',
      synchronizer.url,
    ])
  await expect(confirm()).rejects.toThrow(
    'the synchronizer cannot be reached: untrusted certificate (QS_PEER_CA names the authority)',
  )
  vi.stubEnv('QS_PEER_CA', authority.caFile)
  expect(JSON.parse(await confirm())).toMatchObject({ confirmedBy: 'sv-1', isInForce: false })
  expect(asked).toEqual([['/v0/submit', token]])
})

it('software votes only for protocol versions that it knows, and stops at others', async () => {
  await using members = await startMembers()
  const { network, node, own } = members
  const [first, second] = members.keys
  const { version, newestKnown } = JSON.parse(
    await type(['protocol', 'get', '--json', '--scan', node.url]),
  )
  expect(version).toBe(newestKnown)
  const vote = (keyFile: string | undefined, wanted: number, ...more: readonly string[]) =>
    type(['protocol', 'vote', String(wanted), ...more, ...own(keyFile)])
  await expect(vote(first, version + 1)).rejects.toThrow(`install one that knows ${version + 1}`)
  await expect(vote(first, version - 1)).rejects.toThrow('is already in force')
  await expect(vote(first, version, '--not-before', 'noon')).rejects.toThrow(
    'is not a time. Write it as',
  )

  // Like operators whose nodes run newer software.
  const at = 4_000_000_000_000_000
  const voteAnyway = async (index: number, notBefore: number | null) =>
    confirm(
      {
        genesis: network.genesis,
        rulesUrl: `${node.url}/v0`,
        nowMicros: createSystemClock().nowMicros(),
        keyPair: keyPairFromSeed(readFileSync(members.keys[index] ?? '', 'utf8').trim()),
        synchronizer: {
          url: network.shared.log.url,
          token: readFileSync(network.shared.log.tokenFile, 'utf8').trim(),
          trust: null,
        },
      },
      (by) => confirmSetProtocolVersionCommand({ ...by, version: version + 1, notBefore }),
    )
  await voteAnyway(0, at)
  const shown = await until('the vote', async () => {
    const text = await type(['config', 'pending', '--scan', node.url])
    return text.includes(`version ${version + 1} of the protocol, from: 2096-`) ? text : undefined
  })
  expect(shown).toContain('confirmed by sv-1 (')
  await voteAnyway(1, at)
  await until('what is to come', async () => {
    const text = await type(['protocol', 'get', '--scan', node.url])
    return text.includes(`Version ${version + 1} takes effect at 2096-`) ? text : undefined
  })
  // Two operators withdraw their votes: their software knows the version in force.
  await vote(first, version)
  expect(JSON.parse(await vote(second, version)).protocol.next).toBeNull()

  await voteAnyway(0, null)
  await voteAnyway(1, null)
  const refusal = await until('the refusal', async () => {
    const body = await (await fetch(`${node.url}/readyz`)).json().catch(() => ({}))
    return memberOf(body, 'code') === 'SOFTWARE_OUTDATED' ? membersOf(body) : undefined
  })
  expect(refusal).toMatchObject({
    retryable: false,
    error: expect.stringContaining(`Install a release that knows version ${version + 1}`),
  })
  expect(await type(['protocol', 'get', '--scan', node.url])).toContain('install newer software')
  // The node still answers from its state.
  await expect(await fetch(`${node.url}/v0/ans-entries/by-name/dso.ns`)).toAnswer(200)
})
