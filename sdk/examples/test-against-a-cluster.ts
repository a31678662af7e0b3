// Test a wallet against a real cluster: four nodes, one of them killed.
import assert from 'node:assert/strict'
import { startCluster } from '@quorumscan/sdk/testing'

const cluster = await startCluster({ nodes: 4 })
try {
  const alice = cluster.validator('alice')
  await alice.wallet.party()
  await alice.wallet.tap({ usd: '10.0' })
  const { party } = await alice.names.register({ name: 'alice' })

  await cluster.kill('sv-1')
  await cluster.waitFor(({ nodes }) => nodes.some((node) => node.state === 'down'))

  const scan = cluster.scan()
  assert.equal(await scan.names.resolve('alice'), party)
  await scan.close()
  console.log('still verified with one node dead')
} finally {
  await cluster.down()
}
