/** The reads of `createScan` other than those of names. */
import { createActivities } from './activities/activities.ts'
import type { Bounds, LookupSource } from './names/bounded.ts'
import { assertOffset } from './platform/arguments.ts'

export function createOtherReads(
  reads: LookupSource & Bounds & { readonly writeFloor: { record(offset: number): Promise<void> } },
) {
  return {
    activities: createActivities(reads),
    async readFrom(offset: number): Promise<void> {
      assertOffset(offset)
      await reads.writeFloor.record(offset)
    },
  }
}
