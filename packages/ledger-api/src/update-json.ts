/**
 * The JSON of updates and contracts on the ledger interface (docs/upstream.md §L2). Each value is written once, here.
 * Payloads, arguments and results are stored as JSON, and are sent as they are stored. Identifiers of parties, contracts,
 * templates and choices have no character that JSON escapes.
 */
import {
  HOLDING_INTERFACE,
  type holdingViewOf,
  packages,
  templateIdOf,
  templates,
} from '@quorumscan/ledger'
import type { ContractId, Micros, Offset, PartyId } from '@quorumscan/model'
import type { TransactionView } from './formats.ts'
import { formatLedgerInstant } from './instants.ts'

type ShownOfContract = {
  readonly offset: Offset
  readonly nodeId: number
  readonly contractId: ContractId
  /** The number of its template. */
  readonly template: number
  /** The witnesses that the filter names. */
  readonly witnesses: readonly PartyId[]
}

export type ShownCreated = ShownOfContract & {
  readonly kind: 'created'
  /** JSON. */
  readonly payload: string
  /** Base64; empty: it was not asked for. */
  readonly blob: string
  /** As a holding; null: it was not asked for. */
  readonly view: ReturnType<typeof holdingViewOf> | null
  readonly signatories: readonly PartyId[]
  readonly observers: readonly PartyId[]
  readonly createdAt: Micros
  readonly isDelta: boolean
}

type ShownArchived = ShownOfContract & {
  readonly kind: 'archived'
  readonly isByInterface: boolean
}

type ShownExercised = ShownOfContract & {
  readonly kind: 'exercised'
  readonly choice: string
  /** JSON. */
  readonly argument: string
  /** JSON. */
  readonly result: string
  readonly actors: readonly PartyId[]
  readonly consuming: boolean
  readonly lastDescendantNodeId: number
  readonly isByInterface: boolean
  readonly isDelta: boolean
}

export type ShownEvent = ShownCreated | ShownArchived | ShownExercised

export type ShownTransaction = {
  readonly kind: 'transaction'
  readonly shape: TransactionView['shape']
  readonly updateId: string
  /** Empty: none of its submitters is named by the filter. */
  readonly commandId: string
  readonly workflowId: string
  readonly offset: Offset
  readonly recordTime: Micros
  /** Empty: it has none. */
  readonly traceparent: string
  readonly events: readonly ShownEvent[]
}

/** Parties that the update allocates. */
export type ShownTopology = {
  readonly kind: 'topology'
  readonly updateId: string
  readonly offset: Offset
  readonly recordTime: Micros
  readonly hosted: readonly { readonly party: PartyId; readonly participantId: string }[]
}

export type ShownUpdate = ShownTransaction | ShownTopology

/** The members of events that name their template, by its number. */
const templateTexts = templates.map((template) => {
  const id = templateIdOf(template)
  const { packageName } = template
  return { id, packageId: id.slice(0, id.indexOf(':')), packageName }
})

/** `<package id>:Coin.Holding:Holding`. */
const HOLDING_ID = packages.reduce(
  (id, own) => id.replace(`#${own.name}:`, `${own.id}:`),
  HOLDING_INTERFACE,
)

/** An element of a stream: `{"update": …}`. */
export function updateJson(update: ShownUpdate, synchronizerId: string): string {
  if (update.kind === 'topology')
    return `{"update":{"TopologyTransaction":{"value":${topologyJson(update, synchronizerId)}}}}`
  const name = update.shape === 'tree' ? 'TransactionTree' : 'Transaction'
  return `{"update":{"${name}":{"value":${transactionJson(update, synchronizerId)}}}}`
}

/** A `JsTransaction`, or the tree of one. */
export function transactionJson(transaction: ShownTransaction, synchronizerId: string): string {
  const { shape, updateId, commandId, workflowId, offset, traceparent } = transaction
  const time = formatLedgerInstant(transaction.recordTime)
  const isTree = shape === 'tree'
  const jsonOf = isTree ? treeEntryJson : eventJson
  let events = ''
  for (const event of transaction.events)
    events += events === '' ? jsonOf(event, time) : `,${jsonOf(event, time)}`
  const begin =
    `{"updateId":"${updateId}","commandId":${JSON.stringify(commandId)},` +
    `"workflowId":${JSON.stringify(workflowId)},"effectiveAt":"${time}",`
  const middle =
    `"offset":${offset},"synchronizerId":${JSON.stringify(synchronizerId)},"traceContext":${traceJson(traceparent)},` +
    `"recordTime":"${time}"`
  return isTree
    ? `${begin}"eventsById":{${events}},${middle}}`
    : `${begin}"events":[${events}],${middle},"externalTransactionHash":null,"paidTrafficCost":null}`
}

function topologyJson(update: ShownTopology, synchronizerId: string): string {
  const { updateId, offset } = update
  const events = update.hosted.map(({ party: partyId, participantId }) => ({
    event: {
      ParticipantAuthorizationAdded: {
        value: {
          partyId,
          participantId,
          participantPermission: 'PARTICIPANT_PERMISSION_SUBMISSION',
        },
      },
    },
  }))
  const recordTime = formatLedgerInstant(update.recordTime)
  return JSON.stringify({
    updateId,
    offset,
    synchronizerId,
    recordTime,
    events,
    traceContext: null,
  })
}

/** @param time - Of the update, which is that of what it creates. */
function eventJson(event: ShownEvent, time: string): string {
  switch (event.kind) {
    case 'created':
      return `{"CreatedEvent":${createdEventJson(event, time)}}`
    case 'archived':
      return `{"ArchivedEvent":${archivedEventJson(event)}}`
    case 'exercised':
      return `{"ExercisedEvent":${exercisedEventJson(event)}}`
  }
}

/** An entry of `eventsById`. A tree has no archivals: it shows the choices that archive. */
function treeEntryJson(event: ShownEvent, time: string): string {
  const shown =
    event.kind === 'created'
      ? `"CreatedTreeEvent":{"value":${createdEventJson(event, time)}}`
      : event.kind === 'exercised'
        ? `"ExercisedTreeEvent":{"value":${exercisedEventJson(event)}}`
        : `"ArchivedTreeEvent":{"value":${archivedEventJson(event)}}`
  return `"${event.nodeId}":{${shown}}`
}

/** A `CreatedEvent` of an update, or of a contract whose update was pruned. */
export function createdEventJson(
  event: ShownCreated,
  time = formatLedgerInstant(event.createdAt),
): string {
  const { packageId, packageName } = textsOf(event.template)
  return (
    `{${contractJson(event)},"contractKey":null,"contractKeyHash":"",` +
    `"createArgument":${event.payload},"createdEventBlob":"${event.blob}","interfaceViews":${viewsJson(event.view, packageId)},` +
    `"witnessParties":${partiesJson(event.witnesses)},"signatories":${partiesJson(event.signatories)},` +
    `"observers":${partiesJson(event.observers)},"createdAt":"${time}",` +
    `"packageName":"${packageName}","representativePackageId":"${packageId}","acsDelta":${event.isDelta}}`
  )
}

export function archivedEventJson(event: ShownArchived): string {
  return (
    `{${contractJson(event)},"witnessParties":${partiesJson(event.witnesses)},` +
    `"packageName":"${textsOf(event.template).packageName}","implementedInterfaces":${interfacesJson(event)}}`
  )
}

function exercisedEventJson(event: ShownExercised): string {
  return (
    `{${contractJson(event)},"interfaceId":null,"choice":"${event.choice}",` +
    `"choiceArgument":${event.argument},"actingParties":${partiesJson(event.actors)},` +
    `"consuming":${event.consuming},"witnessParties":${partiesJson(event.witnesses)},` +
    `"lastDescendantNodeId":${event.lastDescendantNodeId},"exerciseResult":${event.result},` +
    `"packageName":"${textsOf(event.template).packageName}","implementedInterfaces":${interfacesJson(event)},` +
    `"acsDelta":${event.isDelta}}`
  )
}

/** An element of the active contracts. */
export function activeContractJson(created: ShownCreated, synchronizerId: string): string {
  const active = `{"createdEvent":${createdEventJson(created)},"synchronizerId":${JSON.stringify(synchronizerId)},"reassignmentCounter":0}`
  // The workflow belongs to the update, which may have been pruned.
  return `{"workflowId":"","contractEntry":{"JsActiveContract":${active}},"streamContinuationToken":""}`
}

/** The events of one contract. @param events.archived - Null while it is active. */
export function contractEventsJson(
  {
    created,
    archived,
  }: { readonly created: ShownCreated; readonly archived: ShownArchived | null },
  synchronizerId: string,
): string {
  const place = `"synchronizerId":${JSON.stringify(synchronizerId)}}`
  const end = archived && `{"archivedEvent":${archivedEventJson(archived)},${place}`
  return `{"created":{"createdEvent":${createdEventJson(created)},${place},"archived":${end}}`
}

/** The first members of every event. */
function contractJson({ offset, nodeId, contractId, template }: ShownOfContract): string {
  return (
    `"offset":${offset},"nodeId":${nodeId},"contractId":"${contractId}",` +
    `"templateId":"${textsOf(template).id}"`
  )
}

function partiesJson(parties: readonly PartyId[]): string {
  let list = ''
  for (const party of parties) list += list === '' ? `"${party}"` : `,"${party}"`
  return `[${list}]`
}

function interfacesJson({ isByInterface }: { readonly isByInterface: boolean }): string {
  return isByInterface ? `["${HOLDING_ID}"]` : '[]'
}

function viewsJson(view: ShownCreated['view'], packageId: string): string {
  if (view === null) return '[]'
  return JSON.stringify([
    {
      interfaceId: HOLDING_ID,
      viewStatus: { code: 0, message: '', details: [] },
      viewValue: view,
      implementationPackageId: packageId,
    },
  ])
}

function textsOf(template: number) {
  const texts = templateTexts[template]
  if (texts === undefined) throw new RangeError(`no template has the number ${template}`)
  return texts
}

function traceJson(traceparent: string): string {
  return traceparent === '' ? 'null' : `{"traceparent":"${traceparent}","tracestate":null}`
}
