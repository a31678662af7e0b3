/** `verify`: whether a file proves what it says, of which request, at which offset, signed by whom. */
import { readFileSync } from 'node:fs'
import {
  type CanonicalRequest,
  type Genesis,
  type Json,
  parseGenesis,
  parseStrictJson,
  parseThreshold,
  requestOfLookup,
  thresholdVotes,
  type VerifiedReceipt,
} from '@quorumscan/consensus'
import { formatTime } from '@quorumscan/model'
import { ClusterError, messageOf } from '../cluster-error.ts'
import { InvalidProof, judgeProof, type Proven } from './proof.ts'
import { lookupOf, printable } from './text.ts'

export type VerifyOptions = {
  /** `-` reads the standard input. */
  readonly file: string
  readonly genesisFile: string
  /** A name, a party, or a request as JSON; null: any. */
  readonly request: string | null
  /** weak, strong, all or a number. */
  readonly threshold: string
}

const STANDARD_INPUT = 0

/**
 * Judges the file. The text is for a person.
 *
 * @throws {ClusterError} If a file cannot be read, or the options make no sense: then nothing was judged.
 */
export async function verify(
  options: VerifyOptions,
): Promise<{ readonly isValid: boolean; readonly text: string; readonly json: unknown }> {
  const genesis = readGenesis(options.genesisFile)
  const request = options.request === null ? null : parseRequest(options.request)
  const threshold = parseVotes(options.threshold, genesis)
  const document = read(options.file === '-' ? STANDARD_INPUT : options.file)
  try {
    const proven = await judgeProof(document, { genesis, request, threshold })
    const parts = proven.map((one) => formatProven(one, genesis))
    const text = ['valid', ...parts].join('\n')
    return { isValid: true, text, json: { valid: true, proven: proven.map(jsonOf) } }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    const reason = printable(error.message)
    return {
      isValid: false,
      text: `invalid, because ${reason}`,
      json: { valid: false, reason },
    }
  }
}

/** @throws {ClusterError} */
export function readGenesis(file: string): Genesis {
  try {
    return parseGenesis(JSON.parse(read(file)))
  } catch (error) {
    throw new ClusterError(`${file} is no genesis document: ${messageOf(error)}; see --genesis`)
  }
}

/** Votes that a threshold needs in the network of this genesis. @throws {ClusterError} */
export function parseVotes(text: string, genesis: Genesis): number {
  const nodeCount = genesis.nodes.length
  const threshold = parseThreshold(text, nodeCount)
  const votes = threshold === undefined ? undefined : thresholdVotes(threshold, nodeCount)
  if (votes !== undefined) return votes
  const votesMin = thresholdVotes('weak', nodeCount)
  throw new ClusterError(
    `a threshold is weak, strong, all or a number from ${votesMin} to ${nodeCount}`,
  )
}

/** For a program: an answer as a value. */
function jsonOf(proven: Proven): unknown {
  if (proven.kind !== 'answer') return proven.evidence
  const { answer, recordTime, ...receipt } = proven.receipt
  return {
    ...receipt,
    recordTime: formatTime(recordTime),
    answer: JSON.parse(new TextDecoder().decode(answer)),
  }
}

function formatProven(proven: Proven, genesis: Genesis): string {
  if (proven.kind === 'answer') return formatReceipt(proven.receipt, genesis)
  const { signer, kind, offset } = proven.evidence
  return `\n${signer} signed two different statements (${kind}) about offset ${offset}`
}

function formatReceipt(receipt: VerifiedReceipt, genesis: Genesis): string {
  const { request, signers } = receipt
  return [
    '',
    `request    ${request.operation} ${printable(JSON.stringify(request.parameters))}`,
    `answer     ${printable(new TextDecoder().decode(receipt.answer))}`,
    `offset     ${receipt.offset}`,
    `time       ${formatTime(receipt.recordTime)}`,
    `signed by  ${signers.join(', ')} (${signers.length} of ${genesis.nodes.length}, ${receipt.threshold} needed)`,
  ].join('\n')
}

function parseRequest(text: string): CanonicalRequest {
  if (!text.startsWith('{')) return requestOfLookup(lookupOf(text))
  try {
    const { operation, parameters } = Object(parseStrictJson(text))
    if (typeof operation === 'string' && typeof parameters === 'object' && parameters !== null)
      return { operation, parameters: parameters as { readonly [name: string]: Json } }
  } catch {
    // Said below.
  }
  throw new ClusterError(
    'a request is a name, a party, or JSON such as {"operation":"getDsoPartyId","parameters":{}}',
  )
}

function read(file: string | typeof STANDARD_INPUT): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ClusterError(`cannot read ${file}: ${messageOf(error)}`)
  }
}
