/** What `config` and `protocol` print where an operator names the wrong node, synchronizer or value. */

import { runCommandLine } from '@quorumscan/cli'
import { testEnvironment } from '@quorumscan/cli/testing'
import { NEWEST_RULES } from '@quorumscan/ledger'
import { startNetwork } from '@quorumscan/scan/testing'
import { until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { RIG } from './cluster-commands.ts'

const type = (line: string) => runCommandLine(line.split(' '), testEnvironment(), RIG)

it('reports what happened, why, and what to do next, when a running network refuses a change', async () => {
  await using network = await startNetwork(1)
  await using node = await network.startNode(0)
  await until('the node', async () => ((await fetch(`${node.url}/readyz`)).ok ? true : undefined))
  const { operatorKeyFile = '' } = await network.config(0)
  const { log, genesisFile } = network.shared
  const own = `--key ${operatorKeyFile}`
  const here = `--scan ${node.url} --token-file ${log.tokenFile}`
  const of = (synchronizer: string) =>
    `${own} ${here} --synchronizer ${synchronizer} --genesis ${genesisFile}`
  const refused: readonly (readonly [string, string])[] = [
    [
      `config get --scan ${log.url}`,
      `the server at ${log.url}/v0/ans-rules is not a scan node: it does not have this path. Name the address of a scan node`,
    ],
    [
      `config set entry-fee=3 ${of(node.url)}`,
      `nothing was confirmed: the server at ${node.url} is not a synchronizer. Name the address of one with \`--synchronizer\``,
    ],
    [
      `config set entry-fee=3 ${of('nope')}`,
      '--synchronizer does not begin with https:// or http://: "nope"; it is an address such as https://sv-1.example:4611',
    ],
    [
      `config set entry-fee=3 ${of('http://127.0.0.1:1')}`,
      'the synchronizer at http://127.0.0.1:1 did not acknowledge the confirmation: the synchronizer cannot be reached: refused. Check that it runs, and that its address is right. Then run the same command again: a repeated confirmation has no effect',
    ],
    [
      `config set entry-lifetime=99999d ${of(log.url)}`,
      'nothing was changed: the ledger accepts a fee above 0, durations above 0 and within a century, and a description prefix of at most 140 characters. Set the rules to values within these limits',
    ],
    [
      `protocol vote ${NEWEST_RULES.version} --not-before noon ${of(log.url)}`,
      'nothing was voted for: --not-before "noon" is not a time. Write it as in 2030-01-31T12:00:00Z',
    ],
  ]
  for (const [line, message] of refused) await expect(type(line), line).rejects.toThrow(message)
})
