/**
 * Logs that were recorded once for each version of the protocol, with what every replica computes from them. Software
 * that computes anything else has another history than the networks that run (Rule 1).
 */
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { ContractId, Micros } from '@quorumscan/model'
import { canonicalJson, type Genesis, type Json, parseGenesis } from '@quorumscan/verifier'

export type RecordedEntry = {
  readonly recordTime: Micros
  readonly bytes: Uint8Array
  /** Hex, after this entry. */
  readonly historyHash: string
  /** Hex, after this entry; null if the state there is not certifiable. */
  readonly stateRoot: string | null
}

export type RecordedLog = {
  readonly genesis: Genesis
  /** Hex: the history hash at offset 0. */
  readonly genesisHash: string
  /** Ids of the packages that existed when it was recorded. */
  readonly packageIds: readonly string[]
  /** Entry N at index N − 1. */
  readonly entries: readonly RecordedEntry[]
  /** Every active contract after the last entry, by id. */
  readonly contractIds: readonly ContractId[]
}

/** The file with the recorded log of a version of the protocol. */
export function recordedLogPath(version: number): URL {
  return new URL(`../../../../test/vectors/logs/version-${version}.jsonl.gz`, import.meta.url)
}

export function readRecordedLog(version: number): RecordedLog {
  return decodeRecordedLog(readFileSync(recordedLogPath(version)))
}

/** JSON lines, compressed by gzip: one for the genesis, one for each entry, one for the end. */
export function encodeRecordedLog(log: RecordedLog): Uint8Array {
  const { genesis, genesisHash, packageIds, entries, contractIds } = log
  const lines: Json[] = [
    {
      genesis: genesis as unknown as Json,
      genesis_hash: genesisHash,
      package_ids: packageIds,
    },
    ...entries.map(({ recordTime, bytes, historyHash, stateRoot }) => ({
      record_time: recordTime,
      bytes: Buffer.from(bytes).toString('base64'),
      history_hash: historyHash,
      state_root: stateRoot,
    })),
    { contract_ids: contractIds },
  ]
  return gzipSync(utf8(lines.map((line) => `${canonicalJson(line)}\n`).join('')), { level: 9 })
}

function decodeRecordedLog(file: Uint8Array): RecordedLog {
  // The program that records them wrote these lines.
  const lines = fromUtf8(gunzipSync(file))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const first = lines[0]
  const last = lines.at(-1)
  assert(
    first?.genesis !== undefined && last?.contract_ids !== undefined,
    'a recorded log is whole',
  )
  return {
    genesis: parseGenesis(first.genesis),
    genesisHash: first.genesis_hash,
    packageIds: first.package_ids,
    entries: lines.slice(1, -1).map((line) => ({
      recordTime: line.record_time,
      bytes: Buffer.from(line.bytes, 'base64'),
      historyHash: line.history_hash,
      stateRoot: line.state_root,
    })),
    contractIds: last.contract_ids,
  }
}
