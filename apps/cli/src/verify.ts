/** `verify`: whether a file proves an answer, to which request, at which offset, and with which signers. */
import { existsSync } from 'node:fs'
import { buffer as bytesOf } from 'node:stream/consumers'
import { PAGE_SIZE_MAX } from '@quorumscan/api'
import { fromUtf8, printable } from '@quorumscan/base'
import { type DataDirectory, readGenesis } from '@quorumscan/operator'
import { readInput, UsageError } from '@quorumscan/runtime'
import {
  type CanonicalRequest,
  formatInstant,
  type Genesis,
  memberSetOf,
  type ProvenEvidence,
  parseStrictJson,
  parseThreshold,
  requestOfEntries,
  requestOfLookup,
  thresholdVotes,
} from '@quorumscan/verifier'
import type { ActivitiesAnswer, CertifiedPage, ProvenLeaf } from '@quorumscan/verifier/certified'
import {
  asRequest,
  orUnproven,
  type Proven,
  type ProvenState,
  UnprovenError,
  verifyProof,
} from './proof.ts'
import { field, fields } from './text.ts'

/** The request, as typed: one of these, or none. */
export type RequestOptions = {
  readonly name?: string
  readonly party?: string
  readonly prefix?: string
  /** The page size of a prefix list. */
  readonly pageSize?: number
  /** Any other operation, as JSON. */
  readonly request?: string
}

/**
 * Judges the file. The text is for a person.
 *
 * @param options.file - `-` reads the standard input.
 * @param options.threshold - weak, strong, all or a number.
 * @throws {UsageError} If a file cannot be read, or the options are invalid: then nothing was checked.
 */
export async function verify(options: {
  readonly file: string
  readonly genesisFile: string
  readonly asked: RequestOptions
  readonly threshold: string
}) {
  const genesis = readGenesis(options.genesisFile)
  const request = requestOf(options.asked)
  const threshold = parseVotes(options.threshold, genesis)
  const document =
    options.file === '-' ? await readStandardInput() : readInput(options.file, (bytes) => bytes)
  try {
    // Strictly: a decoder that replaces what is not UTF-8 would make one document of many.
    const text = orUnproven(() => fromUtf8(document), 'it is not UTF-8: ')
    const proven = await verifyProof(text, { genesis, request, threshold })
    const parts = proven.map((one) => formatProven(one, { genesis, threshold }))
    const json = { valid: true, proven: proven.map(jsonOf) }
    return { isValid: true, text: ['valid', ...parts].join('\n'), json }
  } catch (error) {
    if (!(error instanceof UnprovenError)) throw error
    const reason = printable(error.message)
    const json = { valid: false, reason }
    return { isValid: false, text: `invalid, because ${reason}`, json }
  }
}

/** That of the cluster in the data directory. @throws {UsageError} If none was started there. */
export function readClusterGenesis({ path, genesisFile }: DataDirectory): Genesis {
  if (existsSync(genesisFile)) return readGenesis(genesisFile)
  throw new UsageError(
    `no cluster was started in ${path}: ${genesisFile} does not exist. Name its directory with \`--data-dir\`, or ` +
      'the configuration of an operator with `--config`',
  )
}

/** Votes that a threshold needs in the network of this genesis. @throws {UsageError} */
export function parseVotes(text: string, genesis: Genesis): number {
  const set = memberSetOf(genesis)
  const threshold = parseThreshold(text, set)
  const votes = threshold === undefined ? undefined : thresholdVotes(threshold, set)
  if (votes !== undefined) return votes
  throw new UsageError(`a threshold is weak, strong, all or a number from ${set.f + 1} to ${set.n}`)
}

/** The proven values as JSON. */
function jsonOf(proven: Proven): unknown {
  if (proven.kind === 'evidence') return proven.evidence
  const { answer, recordTime, ...facts } = proven.certified
  const what =
    proven.kind === 'leaves'
      ? { shown: proven.certified.answer.map(({ key, value }) => ({ key, value })) }
      : { request: proven.request, answer }
  return { ...what, ...facts, recordTime: formatInstant(recordTime) }
}

function formatProven(
  proven: Proven,
  { genesis, threshold }: { readonly genesis: Genesis; readonly threshold: number },
): string {
  if (proven.kind === 'evidence') return `\n${formatEvidence(proven.evidence)}`
  const { offset, recordTime, signers } = proven.certified
  const count = `${signers.length} of ${memberSetOf(genesis).n}, ${threshold} needed`
  return [
    '',
    ...(proven.kind === 'leaves' ? leafLines(proven.certified.answer) : answerLines(proven)),
    '',
    field('offset', String(offset)),
    field('time', formatInstant(recordTime)),
    field('signed by', `${signers.join(', ')} (${count})`),
  ].join('\n')
}

function formatEvidence({ signer, ...about }: ProvenEvidence): string {
  return about.kind === 'vote'
    ? `${signer} signed two different block votes (${about.step}) in round ${about.round} of block ${about.height}`
    : `${signer} signed two different statements (${about.kind}) about offset ${about.offset}`
}

/** The request is unknown. */
function leafLines(leaves: readonly ProvenLeaf[]): string[] {
  return [
    'the state has these contracts, and may have more: to check a name, a party',
    'or a prefix, add --name, --party or --prefix',
    ...leaves.flatMap(({ key, value }) => [
      printable(key.slice(0, 2).join(' ')),
      ...fields(unlessMalformed(() => JSON.parse(value)) ?? value),
    ]),
  ]
}

function answerLines({
  request,
  certified: { answer },
}: ProvenState & { readonly kind: 'certified' }): string[] {
  const { name, party, name_prefix: prefix, page_token: token } = request.parameters
  const subject = (what: string) =>
    answer === null
      ? [`${printable(what)} has no entry`]
      : [`${printable(what)} has this entry`, ...fields(answer)]
  const page = (list: string) => {
    const { entries, next_page_token: next } = answer as CertifiedPage
    const after = token === null ? '' : ', from the page token on'
    const all = next === null ? 'no others' : 'and there are more'
    return [`${printable(list)}${after}: ${entries.length}, ${all}`, ...listed(entries)]
  }
  switch (request.operation) {
    case 'getEntryByName':
      return subject(`the name ${name}`)
    case 'getEntryByParty':
      return subject(`the party ${party}`)
    case 'listEntries':
      return page(`names that begin with ${JSON.stringify(prefix)}`)
    case 'listEntriesByParty':
      return page(`names of ${party}`)
    case 'listActivities':
      return activityLines(request, answer as ActivitiesAnswer)
    default:
      return [
        printable(`${request.operation} ${JSON.stringify(request.parameters)}`),
        ...[answer].flat().flatMap(fields),
      ]
  }
}

function listed(items: readonly unknown[]): string[] {
  return items.flatMap((item) => ['', ...fields(item)])
}

function activityLines({ parameters }: CanonicalRequest, { activities }: ActivitiesAnswer) {
  const { begin_after_id: after, sort_order: order } = parameters
  const direction = order === 'asc' ? 'oldest first' : 'newest first'
  const bound = after === null ? '' : `, ${order === 'asc' ? 'after' : 'before'} ${after}`
  const count = activities.length === 0 ? 'none' : `${activities.length} (consecutive)`
  return [printable(`activities, ${direction}${bound}: ${count}`), ...listed(activities)]
}

/** @throws {UsageError} */
function requestOf(asked: RequestOptions): CanonicalRequest | null {
  const { name, party, prefix, pageSize, request } = asked
  if ([name, party, prefix, request].filter((one) => one !== undefined).length > 1)
    throw new UsageError('name only one of --name, --party, --prefix and --request')
  if (pageSize !== undefined && prefix === undefined)
    throw new UsageError('--page-size needs --prefix')
  if (name !== undefined) return requestOfLookup({ name })
  if (party !== undefined) return requestOfLookup({ party })
  if (prefix !== undefined)
    return requestOfEntries({ name_prefix: prefix, page_size: pageSize ?? PAGE_SIZE_MAX })
  return request === undefined ? null : parseRequest(request)
}

function parseRequest(text: string): CanonicalRequest {
  const request = asRequest(unlessMalformed(() => parseStrictJson(text)))
  if (request !== null) return request
  throw new UsageError(
    'a request is JSON such as {"operation":"getDso","parameters":{"shared":true}}',
  )
}

function unlessMalformed(parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return null
  }
}

/** The piped document. If it is empty, the command before failed. */
async function readStandardInput(): Promise<Uint8Array> {
  const bytes = await bytesOf(process.stdin)
  if (bytes.toString().trim() === '')
    throw new UsageError(
      'the standard input is empty: nothing was checked. Look at the command before it',
    )
  return bytes
}
