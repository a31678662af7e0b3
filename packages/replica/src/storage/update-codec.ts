/**
 * The stored form of an update in the history of a participant: everything that the ledger interface returns
 * of it, for any party. A table holds each party and contract id once. Values are Daml-LF JSON in which a number
 * replaces each of them, so that printing a value is joining texts.
 *
 * The nesting of events is not stored. Instead each event has the parties that see it only because they see an
 * exercise above it.
 */

import { ByteReader, ByteWriter, bufferOf } from '@quorumscan/base'
import { type ContractCodec, choicesOf, templateOf, templates, toLfJson } from '@quorumscan/ledger'
import type {
  Contract,
  ContractId,
  DamlValue,
  EntryResult,
  LedgerEvent,
  Micros,
  Offset,
  PartyId,
} from '@quorumscan/model'
import { PARTY } from '@quorumscan/verifier'

/** Precedes the number of a text of the table. JSON texts hold no such character. */
const MARK = '\u0001'
/** Numbers are written as one UTF-16 unit, below the surrogates. */
const TABLE_MAX = 50_000
/** Party identifiers and contract ids as whole JSON texts. */
const TABLED = new RegExp(`"(${PARTY.source.slice(1, -1)}|00[0-9a-f]{64})"`, 'g')
const PARTY_JOINT = '::1220'
const HEX_DIGITS = 64

const EXERCISED = 1
const CONSUMING = 2
const TRANSIENT = 4

/** An event as it is stored. Parties are numbers of the update's table. */
export type StoredEvent = Readonly<ReturnType<typeof readEvent>>

/** A piece of the stored bytes. */
type Span = ReturnType<ByteReader['span']>

/** What is stored of one accepted entry. */
export class StoredUpdate {
  readonly offset: Offset
  readonly recordTime: Micros
  readonly updateId: string
  readonly workflowId: string
  readonly commandId: string
  /** '' for none. */
  readonly traceparent: string
  readonly submitters: readonly number[]
  /** Parties that the update allocates; the identifier names the participant (D-30). */
  readonly allocated: readonly number[]
  readonly events: readonly StoredEvent[]
  /** Parties and contract ids by number. */
  readonly table: readonly string[]
  /** The stored form. */
  readonly bytes: Buffer

  constructor(offset: Offset, bytes: Buffer) {
    const reader = new ByteReader(bytes)
    this.bytes = bytes
    this.offset = offset
    this.recordTime = reader.unsigned()
    this.updateId = `1220${reader.hex(32)}`
    this.workflowId = reader.text()
    this.commandId = reader.text()
    this.traceparent = reader.text()
    this.table = readList(reader, readTabled)
    this.submitters = reader.numbers()
    this.allocated = reader.numbers()
    this.events = readList(reader, readEvent)
  }

  /** The JSON text of a value. */
  json(span: Span): string {
    const text = this.bytes.toString('utf8', span.start, span.end)
    let at = text.indexOf(MARK)
    if (at < 0) return text
    let shown = ''
    let from = 0
    do {
      shown += `${text.slice(from, at)}"${this.table[text.charCodeAt(at + 1)]}"`
      from = at + 2
      at = text.indexOf(MARK, from)
    } while (at >= 0)
    return shown + text.slice(from)
  }

  /** Contracts of earlier updates that this update archived, as `ContractCodec` wrote them. */
  archived(): readonly Uint8Array[] {
    return this.events.flatMap((event) =>
      event.kind === 'exercised' && event.archived !== null
        ? [this.bytes.subarray(event.archived.start, event.archived.end)]
        : [],
    )
  }

  /** Contracts that the update archived, including those that it created. */
  archivedIds(): readonly ContractId[] {
    return this.events.flatMap((event) =>
      event.kind === 'exercised' && event.consuming ? [this.table[event.contract] ?? ''] : [],
    )
  }
}

/** @param entry - `archived`: contracts of earlier updates that this update archived. */
export function encodeUpdate(entry: {
  readonly recordTime: Micros
  readonly result: Extract<EntryResult, { kind: 'accepted' }>
  readonly archived: readonly Contract[]
  readonly codec: ContractCodec
}): Buffer {
  const { completion, update } = entry.result
  const table = new Table()
  const body = new ByteWriter()
  const archivedById = new Map(entry.archived.map((contract) => [contract.contractId, contract]))
  const transient = transientOf(update.events)
  body.list(completion.actAs, (party) => body.unsigned(table.numberOf(party)))
  body.list(update.allocated, ({ party }) => body.unsigned(table.numberOf(party)))
  const inherited = inheritedOf(update.events)
  body.list(update.events, (event, index) => {
    const isTransient = transient.has(event.contractId)
    const parties = (list: readonly PartyId[]) =>
      body.list(list, (party) => body.unsigned(table.numberOf(party)))
    const value = (type: Parameters<typeof toLfJson>[0], of: DamlValue) =>
      body.text(table.replaceIn(JSON.stringify(toLfJson(type, of))))
    const isConsuming = event.kind === 'exercised' && event.consuming
    body.unsigned(
      (event.kind === 'exercised' ? EXERCISED : 0) +
        (isConsuming ? CONSUMING : 0) +
        (isTransient ? TRANSIENT : 0),
    )
    const template = templateOf(event)
    body.unsigned(templates.indexOf(template))
    body.unsigned(event.nodeId)
    body.unsigned(table.numberOf(event.contractId))
    parties(event.signatories)
    parties(event.observers)
    parties(inherited[index] ?? [])
    if (event.kind === 'created') {
      value(template.type.descriptor, event.payload)
      return
    }
    const choice = choicesOf(template).find(({ name }) => name === event.choice)
    body.text(event.choice)
    value(choice?.argument.descriptor ?? 'Unit', event.argument)
    value(choice?.result.descriptor ?? 'Unit', event.result)
    parties(event.actingParties)
    body.unsigned(event.lastDescendantNodeId)
    const archived = isConsuming ? archivedById.get(event.contractId) : undefined
    body.bytes(archived === undefined ? new Uint8Array(0) : entry.codec.encode(archived))
  })
  const head = new ByteWriter()
  head.unsigned(entry.recordTime)
  head.hex(update.updateId.slice('1220'.length))
  head.text(update.workflowId)
  head.text(completion.commandId)
  head.text(completion.traceparent ?? '')
  head.list(table.texts, (text) => writeTabled(head, text))
  head.append(body)
  return bufferOf(head.finish())
}

function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const items: T[] = []
  for (let rest = reader.unsigned(); rest > 0; rest--) items.push(read(reader))
  return items
}

/** Literals of one shape and no closures: streams read a hundred thousand of these in seconds. */
function readEvent(reader: ByteReader) {
  const flags = reader.unsigned()
  const template = reader.unsigned()
  const nodeId = reader.unsigned()
  const contract = reader.unsigned()
  const signatories: readonly number[] = reader.numbers()
  const observers: readonly number[] = reader.numbers()
  const inherited: readonly number[] = reader.numbers()
  const isTransient = (flags & TRANSIENT) !== 0
  if ((flags & EXERCISED) === 0)
    return {
      kind: 'created' as const,
      /** Index in `templates` of `packages/ledger`. */
      template,
      nodeId,
      /** Number of the contract's id in the table. */
      contract,
      signatories,
      observers,
      /** Parties that see the event only because of an exercise above it. */
      inherited,
      /** Created and archived by this update. */
      isTransient,
      payload: reader.span(),
    }
  const choice = reader.text()
  const argument = reader.span()
  const result = reader.span()
  const actors: readonly number[] = reader.numbers()
  const lastDescendantNodeId = reader.unsigned()
  const archived = reader.span()
  return {
    kind: 'exercised' as const,
    template,
    nodeId,
    contract,
    signatories,
    observers,
    inherited,
    isTransient,
    consuming: (flags & CONSUMING) !== 0,
    choice,
    argument,
    result,
    actors,
    lastDescendantNodeId,
    /** The contract (`ContractCodec`), if this update archived it and an earlier one created it. */
    archived: archived.start === archived.end ? null : archived,
  }
}

function transientOf(events: readonly LedgerEvent[]): ReadonlySet<ContractId> {
  const created = new Set<ContractId>()
  const transient = new Set<ContractId>()
  for (const event of events) {
    if (event.kind === 'created') created.add(event.contractId)
    else if (event.consuming && created.has(event.contractId)) transient.add(event.contractId)
  }
  return transient
}

/**
 * For each event, the informees of the exercises above it that are not its own (§L2.4): of a consuming exercise
 * the stakeholders and actors, of another one the signatories and actors, of a create the stakeholders.
 */
function inheritedOf(events: readonly LedgerEvent[]): readonly (readonly PartyId[])[] {
  const above: { readonly last: number; readonly informees: readonly PartyId[] }[] = []
  return events.map((event) => {
    while ((above.at(-1)?.last ?? event.nodeId) < event.nodeId) above.pop()
    const own = new Set(informeesOf(event))
    const inherited = new Set(above.flatMap(({ informees }) => informees))
    if (event.kind === 'exercised' && event.lastDescendantNodeId > event.nodeId)
      above.push({ last: event.lastDescendantNodeId, informees: [...own] })
    return [...inherited].filter((party) => !own.has(party))
  })
}

function informeesOf(event: LedgerEvent): readonly PartyId[] {
  const { signatories, observers } = event
  if (event.kind === 'created') return [...signatories, ...observers]
  return [...signatories, ...(event.consuming ? observers : []), ...event.actingParties]
}

/** Texts by number, in order of first use. */
class Table {
  readonly texts: string[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.texts.length)
    this.texts.push(text)
    return this.texts.length - 1
  }

  /** A text that does not fit into the table stays in the JSON, which reads the same. */
  replaceIn(json: string): string {
    return json.replace(TABLED, (whole, text: string) =>
      this.texts.length < TABLE_MAX || this.#numbers.has(text)
        ? MARK + String.fromCharCode(this.numberOf(text))
        : whole,
    )
  }
}

/** 0 and a contract id's hash, or 1 with hint and participant of a party. */
function writeTabled(writer: ByteWriter, text: string): void {
  const joint = text.length - HEX_DIGITS - PARTY_JOINT.length
  const isParty = joint > 0 && text.startsWith(PARTY_JOINT, joint)
  writer.unsigned(isParty ? 1 : 0)
  if (isParty) writer.text(text.slice(0, joint))
  writer.hex(text.slice(-HEX_DIGITS))
}

function readTabled(reader: ByteReader): string {
  if (reader.unsigned() === 0) return `00${reader.hex(32)}`
  return `${reader.text()}${PARTY_JOINT}${reader.hex(32)}`
}
