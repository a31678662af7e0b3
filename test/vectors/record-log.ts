/** Records the log of the newest version of the protocol. */
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { NEWEST_RULES, packages } from '@quorumscan/ledger'
import { encodeRecordedLog, MemoryLedger, recordedLogPath } from '@quorumscan/ledger/testing'
import { naiveStates } from '@quorumscan/replica/testing'
import { growLog } from './grow-log.ts'

/** Returns the exit status: 1 if the version has a recorded log. */
export function main(): number {
  const path = fileURLToPath(recordedLogPath(NEWEST_RULES.version))
  // What software of that version computed is a fact about networks. Software that computes anything else is wrong.
  if (existsSync(path)) {
    process.stderr.write(
      `${path} exists. The log of a version is recorded once, and never again: networks have such logs.\n`,
    )
    return 1
  }
  const scenario = growLog()
  const { ledger, network } = scenario
  const again = new MemoryLedger(network)
  const roots = new Map(naiveStates(scenario).map(({ offset, root }) => [offset, root]))
  const file = encodeRecordedLog({
    genesis: network.genesis,
    genesisHash: network.genesisHash,
    packageIds: packages.map(({ id }) => id),
    entries: ledger.entries().map(({ offset, recordTime, bytes }) => ({
      recordTime,
      bytes,
      historyHash: again.append(bytes, recordTime).historyHash,
      stateRoot: roots.get(offset) ?? null,
    })),
    contractIds: ledger.contracts().map(({ contractId }) => contractId),
  })
  writeFileSync(path, file, { flag: 'wx' })
  process.stdout.write(`${path}: ${ledger.entries().length} entries, ${file.length} bytes\n`)
  return 0
}
