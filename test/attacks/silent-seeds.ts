/** The first seed of a fresh client of the SDK is silent, in each way. */

import { performance } from 'node:perf_hooks'
import { median } from '@quorumscan/base'
import { createScan } from '@quorumscan/sdk'
import { listen } from '@quorumscan/testkit'
import { createSigner } from '../support/network.ts'
import type { Attack } from './attack.ts'
import { silences } from './lying-sources.ts'

const ROUNDS = 7
const NAME = 'sv-2.sv.ns'
/** A client waits 150 ms for a silent seed, and this machine for its processor. */
const LATER_MS_MAX = 300
/** Without a bound of interim answers a lookup cost 211 ms or more. */
const CPU_MS_MAX = 150

export const silentSeeds: Attack = {
  name: 'silent-seeds',
  part: 'attacks-sources',
  claim:
    'The first seed of a new client hangs, drips, or sends interim answers without an end; the second is an honest node. The ' +
    'first lookup takes at most 300 ms longer than with honest seeds, costs at most 150 ms more of the processor, and is proven.',
  async run({ cluster }) {
    const { genesis } = await createSigner(cluster)
    const [first = '', second = ''] = Object.values(cluster.urls.nodes)
    const measure = async (seeds: readonly string[]) => {
      const times: number[] = []
      const cpuTimes: number[] = []
      let provenCount = 0
      for (let round = 0; round < ROUNDS; round++) {
        await using scan = createScan({ seeds, genesis, allowPrivateAddresses: true })
        const cpuBefore = process.cpuUsage()
        const beganMs = performance.now()
        const { kind } = await scan.names.lookup(NAME)
        times.push(performance.now() - beganMs)
        const { user, system } = process.cpuUsage(cpuBefore)
        cpuTimes.push((user + system) / 1000)
        if (kind === 'proven') provenCount++
      }
      return { ms: median(times), cpuMs: median(cpuTimes), provenCount }
    }
    await measure([first, second]) // Loads the code.
    const usual = await measure([first, second])
    const figures: Record<string, string> = { 'honest seeds': `${Math.round(usual.ms)} ms` }
    let holds = usual.provenCount === ROUNDS
    for (const [name, silence] of Object.entries(silences)) {
      await using liar = await listen((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => silence(socket))
      })
      const { ms, cpuMs, provenCount } = await measure([liar.url.replace('tcp:', 'http:'), second])
      const laterMs = ms - usual.ms
      const moreCpuMs = cpuMs - usual.cpuMs
      holds &&= laterMs <= LATER_MS_MAX && moreCpuMs <= CPU_MS_MAX && provenCount === ROUNDS
      figures[name] =
        `${Math.round(ms)} ms, ${Math.round(moreCpuMs)} ms more of the processor, ${provenCount} of ${ROUNDS} proven`
    }
    return { holds, figures }
  },
}
