/** The parts of a control plane: the cluster, what measures it, and what works on it. */
import { createToken } from '@quorumscan/operator'
import { memberSetOf } from '@quorumscan/verifier'
import { createChaosRuns } from '../judge/chaos/runs.ts'
import { createChaosTarget } from '../judge/chaos/target.ts'
import { type ConfirmationWatch, watchConfirmations } from '../judge/watch/cluster-log.ts'
import { startStatusFeed } from '../judge/watch/live.ts'
import { lookUpAtNodes, startProber } from '../judge/watch/prober.ts'
import { createRegistrations } from '../judge/watch/registrations.ts'
import { Cluster, type ClusterOptions } from '../rig/cluster.ts'
import { chaosDirectoryOf } from '../rig/rig-files.ts'
import { createAnsConfigControl } from './ans-config.ts'

export type Parts = ReturnType<typeof openParts>

/** Takes over the processes of a crashed control plane, but starts none. Disposing stops no process. */
export function openParts(
  options: Omit<ClusterOptions, 'onIncident'> & {
    /** Whether a lookup may be measured now. */
    readonly mayProbe: () => boolean
    /** Receives what happened to a process without a command. */
    readonly warn: (details: object, sentence: string) => void
  },
) {
  const { prepared, clock, mayProbe: isReady } = options
  const { directory, genesis, nodes, validatorUrl } = prepared
  const cluster = new Cluster({
    ...options,
    onIncident: (node, sentence, kind) => {
      options.warn({ node, kind }, sentence)
      live.publish({ kind, node, sentence })
    },
  })
  const lookUp = (subject: string) => lookUpAtNodes({ genesis, nodes, subject, clock })
  const prober = startProber({ validatorUrl, nodes, clock, lookUp, isReady })
  const live = startStatusFeed(cluster, prober, clock)
  const target = createChaosTarget(cluster, prepared, clock)
  const chaos = createChaosRuns({ genesis, clock, directory: chaosDirectoryOf(directory), target })
  let watch: ConfirmationWatch | null = null
  const registrations = createRegistrations({
    validatorUrl,
    clock,
    set: memberSetOf(genesis),
    token: (user) => createToken(directory, { user, clock }),
    watch: () => {
      watch ??= watchConfirmations(prepared, clock)
      return watch
    },
  })
  return {
    cluster,
    live,
    chaos,
    registrations,
    ansConfig: createAnsConfigControl(prepared, clock),
    /** The network of a lookup. */
    reading: { genesis, nodes, clock },
    async [Symbol.asyncDispose]() {
      chaos.stopRunning()
      await live.close()
      await watch?.[Symbol.asyncDispose]()
    },
  }
}
