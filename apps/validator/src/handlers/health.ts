/** Whether the validator does its work, where its replica stands, and how the scan nodes answer it. */
import type { Reader } from '@quorumscan/consensus'
import { createHealthHandlers } from '@quorumscan/http'
import type { Context } from '../context.ts'

export function healthHandlers(
  context: Context,
  /** The port listened on. */
  port: () => number,
): ReturnType<typeof createHealthHandlers> {
  const state = context.replicaState
  return createHealthHandlers({
    name: context.name,
    moduleUrl: import.meta.url,
    clock: context.clock,
    clocks: context.clocks,
    port,
    assertReady: context.assertReady,
    state,
    head: () => (state() === 'starting' ? null : context.ledger.head()),
    reader: () => readerStatus(context.reader),
  })
}

/** As the schema types it: its lists are not read-only. */
function readerStatus(reader: Reader) {
  const { nodes, forks, ...counts } = reader.status()
  return {
    ...counts,
    nodes: [...nodes],
    forks: forks.map(({ offset, histories }) => ({
      offset,
      histories: histories.map(({ historyHash, nodes }) => ({ historyHash, nodes: [...nodes] })),
    })),
  }
}
