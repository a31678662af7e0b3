/** Entry of a scan node of a cluster: the app, composed with its faults. */
import { readFile } from 'node:fs/promises'
import { keyPairFromSeed, runProcess, systemRandom } from '@quorumscan/base'
import { readLogClientOptions, readScanConfig } from '@quorumscan/config'
import { createLogClient } from '@quorumscan/log'
import type { Replica } from '@quorumscan/replica'
import { CommandError } from '@quorumscan/runtime'
import { startScan } from '@quorumscan/scan'
import type { AgentHandlers } from './agent.ts'
import type { ProcessFaults } from './fault-spec.ts'
import { installLiar } from './lies/liar.ts'
import { createFalseSubmitter } from './lies/submissions.ts'
import { createFaultyProcess, readFaultEnvironment } from './process.ts'

/** Below the time limit of the agent's client. */
const PRUNE_MS_MAX = 2_000

await runProcess(async (signal) => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const config = await faulty.route(readScanConfig(process.env))
  const operatorSeed = await readFile(config.operatorKeyFile, 'utf8')
  const submitting = createLogClient(readLogClientOptions(config, faulty))
  let start: () => Promise<void> = async () => {}
  const scan = await startScan(config, {
    signal,
    clock: faulty.clock,
    extend({ server, parts }) {
      faulty.guard(server)
      const { app, follower, party, scanKey } = parts
      const { genesisHash } = app
      const { replica } = follower
      // All lies use the node's own keys.
      const shared = { genesisHash, clock: faulty.clock, random: systemRandom }
      const sign = (statement: Uint8Array) => scanKey.sign(statement)
      const setLie = installLiar(server, { ...shared, sign, liar: party, replica })
      const submitter = createFalseSubmitter({
        ...shared,
        ledger: replica,
        submit: (bytes, signal) => submitting.submit(bytes, signal),
        operatorKey: keyPairFromSeed(operatorSeed.trim()),
        party,
        userId: config.nodeName,
      })
      server.addHook('onClose', async () => {
        await submitter.close()
        await submitting[Symbol.asyncDispose]()
      })
      const apply = ({ lie, lieTo }: ProcessFaults) => {
        setLie(lie, lieTo)
        submitter.set(lie)
      }
      start = () => faulty.listen(apply, pruneHandlers(replica))
    },
  })
  await start()
  return scan
})

/** Moves the horizon of a node. */
function pruneHandlers(replica: Pick<Replica, 'head' | 'raiseHorizon'>): AgentHandlers {
  return {
    '/prune': async (body) => {
      // The control plane has validated it.
      const { to } = body as { readonly to: number }
      const { offset } = replica.head()
      if (to > offset) throw new CommandError(`the node has reached offset ${offset}, not ${to}`)
      return { horizon: await replica.raiseHorizon(to, AbortSignal.timeout(PRUNE_MS_MAX)) }
    },
  }
}
