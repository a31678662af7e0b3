/** Entry of a scan node of a cluster: the app, composed with its faults. */
import { readFile } from 'node:fs/promises'
import { keyPairFromSeed, runProcess, systemRandom } from '@quorumscan/base'
import { readLogClientOptions, readScanConfig, type ScanConfig } from '@quorumscan/config'
import { createLogClient, type LogClient } from '@quorumscan/log'
import { CommandError } from '@quorumscan/runtime'
import { type Overrides, startScan } from '@quorumscan/scan'
import { z } from 'zod'
import type { AgentHandlers } from './agent.ts'
import type { ProcessFaults } from './fault-spec.ts'
import { installLiar } from './lies/liar.ts'
import { createFalseSubmitter } from './lies/submissions.ts'
import { createFaultyProcess, type FaultyProcess, readFaultEnvironment } from './process.ts'

/** Below the time limit of the agent's client. */
const PRUNE_MS_MAX = 2_000
const pruneInput = z.object({ to: z.number().int().min(1) })

type Parts = Parameters<NonNullable<Overrides['extend']>>[0]

await runProcess(async (signal) => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const config = await faulty.route(readScanConfig(process.env))
  const operatorSeed = await readFile(config.operatorKeyFile, 'utf8')
  const submitting = createLogClient(await readLogClientOptions(config))
  let start: () => Promise<void> = async () => {}
  const scan = await startScan(config, {
    signal,
    clock: faulty.clock,
    extend: (parts) => {
      faulty.guard(parts.server)
      const apply = makeByzantine(parts, {
        config,
        faulty,
        submitting,
        operatorSeed: operatorSeed.trim(),
      })
      start = () => faulty.listen(apply, pruneHandlers(parts.context))
    },
  })
  await start()
  return scan
})

/** Moves the horizon of a node. */
function pruneHandlers({ replica }: Parts['context']): AgentHandlers {
  return {
    '/prune': async (body) => {
      const { to } = pruneInput.parse(body)
      const { offset } = replica.head()
      if (to > offset) throw new CommandError(`the node has reached offset ${offset}, not ${to}`)
      return { horizon: await replica.raiseHorizon(to, AbortSignal.timeout(PRUNE_MS_MAX)) }
    },
  }
}

/** Adds all byzantine behaviour of a node, with its own keys. Returns the switch. */
function makeByzantine(
  { server, context }: Parts,
  options: {
    readonly config: ScanConfig
    readonly faulty: FaultyProcess
    readonly submitting: LogClient
    readonly operatorSeed: string
  },
): (faults: ProcessFaults) => void {
  const { config, faulty, submitting } = options
  const { genesisHash, party, replica, scanKey } = context
  const shared = { genesisHash, clock: faulty.clock, random: systemRandom }
  const setLie = installLiar(server, {
    ...shared,
    sign: (statement) => scanKey.sign(statement),
    liar: party,
    replica,
  })
  const submitter = createFalseSubmitter({
    ...shared,
    ledger: replica,
    submit: (bytes, signal) => submitting.submit(bytes, signal),
    operatorKey: keyPairFromSeed(options.operatorSeed),
    party,
    userId: config.nodeName,
  })
  server.addHook('onClose', async () => {
    await submitter.close()
    await submitting[Symbol.asyncDispose]()
  })
  return ({ lie }) => {
    setLie(lie)
    submitter.set(lie)
  }
}
