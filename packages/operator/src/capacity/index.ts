/** How much memory and disk a running member needs, and until when it has enough. */
import { readdirSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'
import type { OperatorConfig } from '../run/operator-config.ts'
import { readOperatorMetrics } from '../run/operator-metrics.ts'
import { assessCapacity, type Capacity, readSamples } from './assess-capacity.ts'

export { AHEAD_DAYS, type Capacity, type Growth } from './assess-capacity.ts'

/** @throws {CommandError} If `run` does not answer, or a process has no metrics yet. */
export async function readCapacity(config: OperatorConfig, clock: Clock): Promise<Capacity> {
  const { name, genesis, directory } = config
  const samples = readSamples(await readOperatorMetrics(config))
  try {
    return assessCapacity({
      samples,
      name,
      genesis,
      nowMicros: clock.nowMicros(),
      machineBytes: totalmem(),
      engineBytes: bytesBelow(join(directory.engineDirectory(name), 'data')),
    })
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new CommandError(`${messageOf(cause)}: its process or its Redis does not answer`, {
      cause,
    })
  }
}

/** 0: it does not exist. Files that vanish meanwhile are not counted. */
function bytesBelow(directory: string): number {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size)
      .reduce<number>((sum, size = 0) => sum + size, 0)
  } catch {
    return 0
  }
}
