/** Whether the validator does its work, where its replica stands, and how the scan nodes answer it. */
import { utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Reader } from '@quorumscan/reader'
import { createHealthHandlers } from '@quorumscan/server'
import type { Context } from '../context.ts'

export function healthHandlers(
  context: Context,
  listening: {
    /** The port listened on. */
    readonly port: () => number
    /** Of the mount point that is not the root. */
    readonly prefix: string
  },
): ReturnType<typeof createHealthHandlers> {
  const state = () => context.ledger.state()
  const health = createHealthHandlers({
    name: context.name,
    moduleUrl: import.meta.url,
    clock: context.clock,
    clocks: context.clocks,
    port: listening.port,
    assertReady: context.assertReady,
    state,
    head: () => (state() === 'starting' ? null : context.ledger.head()),
    detail() {
      const { logRoom, privateNodes, secondMachine } = context
      const details = [logRoom, privateNodes, secondMachine].map((one) => one.detail())
      return details.filter((one) => one !== null).join('; ') || null
    },
    reader: () => readerStatus(context.reader),
  })
  return {
    ...health,
    async readyz(request) {
      if (request.url.startsWith(listening.prefix)) return health.readyz(request)
      try {
        const { headers } = await health.readyz(request)
        const passed = ledgerReadiness(200, '[+] ledger ok (SERVING)\nreadyz check passed\n')
        return { ...passed, headers: { ...headers, ...passed.headers } }
      } catch (error) {
        if (!(error instanceof ScanError)) throw error
        return ledgerReadiness(503, '[-] ledger failed (NOT_SERVING)\nreadyz check failed\n')
      }
    },
  }
}

/** At the root, as the ledger interface says it (docs/upstream.md §L5.2). */
function ledgerReadiness(status: number, text: string) {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: utf8(text) }
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
