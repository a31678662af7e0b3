/**
 * What parties see of an update (docs/upstream.md §L2): the events that a filter matches, with the witnesses that it
 * names, as JSON text that is ready to be sent.
 */
import {
  contractBlob,
  encodePayload,
  HOLDING_INTERFACE,
  holdingViewOf,
  packages,
  templateIdOf,
  templates,
} from '@quorumscan/ledger'
import { type ContractId, type Micros, type Offset, partyParticipant } from '@quorumscan/model'
import type { StoredEvent, StoredUpdate } from '@quorumscan/replica'
import {
  BY_INTERFACE,
  type EventFilter,
  MATCHES,
  type TemplateFlags,
  type TransactionView,
  type UpdateView,
  WITH_BLOB,
  WITH_VIEW,
} from './formats.ts'
import { formatLedgerInstant } from './instants.ts'
import { participantIdOf } from './participant-id.ts'

/** The element of a stream for an update, as JSON; null if the stream does not show it. */
export type Projection = (update: StoredUpdate) => string | null

/** The fields of events that name their template, by index. */
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

/** `{"update": …}` of transactions and topology transactions, by the view. */
export function createProjection(view: UpdateView, synchronizerId: string): Projection {
  const { transactions, topology } = view
  return (update) => {
    if (update.allocated.length > 0)
      return topology === null ? null : topologyElement(update, topology, synchronizerId)
    if (transactions === null) return null
    const value = transactionJson(update, transactions, synchronizerId)
    const name = transactions.shape === 'tree' ? 'TransactionTree' : 'Transaction'
    return value === null ? null : `{"update":{"${name}":{"value":${value}}}}`
  }
}

/** A `JsTransaction`; null if no event remains, unless it is shown without events. */
export function transactionJson(
  update: StoredUpdate,
  view: TransactionView & { readonly isShownEmpty?: boolean },
  synchronizerId: string,
): string | null {
  const audience = new Audience(update, view.filter)
  let events = ''
  const isAcsDelta = view.shape === 'acs-delta'
  const eventJsonOf = isAcsDelta ? stakeholderEvent : effectEvent
  for (const event of update.events) {
    if (isAcsDelta && event.isTransient) continue
    const found = eventJsonOf(update, event, audience)
    if (found === null) continue
    const shown = view.shape === 'tree' ? treeEntry(event, found) : found
    events += events === '' ? shown : `,${shown}`
  }
  if (events === '' && view.isShownEmpty !== true) return null
  const { offset, updateId, workflowId } = update
  const time = formatLedgerInstant(update.recordTime)
  const commandId = audience.hasOneOf(update.submitters) ? update.commandId : ''
  const begin =
    `{"updateId":"${updateId}","commandId":${JSON.stringify(commandId)},` +
    `"workflowId":${JSON.stringify(workflowId)},"effectiveAt":"${time}",`
  const middle =
    `"offset":${offset},"synchronizerId":${JSON.stringify(synchronizerId)},"traceContext":${traceJson(update.traceparent)},` +
    `"recordTime":"${time}"`
  return view.shape === 'tree'
    ? `${begin}"eventsById":{${events}},${middle}}`
    : `${begin}"events":[${events}],${middle},"externalTransactionHash":null,"paidTrafficCost":null}`
}

/** An entry of `eventsById`: the event under another name. */
function treeEntry(event: StoredEvent, shown: string): string {
  const name = event.kind === 'created' ? 'Created' : 'Exercised'
  const value = shown.slice(`{"${name}Event":`.length, -1)
  return `"${event.nodeId}":{"${name}TreeEvent":{"value":${value}}}`
}

function topologyElement(
  update: StoredUpdate,
  parties: ReadonlySet<string> | 'all',
  synchronizerId: string,
): string | null {
  const events = update.allocated
    .map((number) => update.table[number] ?? '')
    .filter((party) => parties === 'all' || parties.has(party))
    .map((partyId) => ({
      event: {
        ParticipantAuthorizationAdded: {
          value: {
            partyId,
            participantId: participantIdOf(partyParticipant(partyId)),
            participantPermission: 'PARTICIPANT_PERMISSION_SUBMISSION',
          },
        },
      },
    }))
  if (events.length === 0) return null
  const { updateId, offset } = update
  const recordTime = formatLedgerInstant(update.recordTime)
  const value = { updateId, offset, synchronizerId, recordTime, events, traceContext: null }
  return JSON.stringify({ update: { TopologyTransaction: { value } } })
}

/** The parties of a filter, in terms of one update's table. */
class Audience {
  readonly #table: readonly string[]
  readonly #filter: EventFilter
  readonly #flags: (TemplateFlags | null | undefined)[] = []

  constructor(update: Pick<StoredUpdate, 'table'>, filter: EventFilter) {
    this.#table = update.table
    this.#filter = filter
  }

  /** Union of the flags of the witnesses that the filter names. */
  flagsFor(template: number, witnesses: readonly number[]): number {
    const { anyParty, byParty } = this.#filter
    let flags = anyParty === null || witnesses.length === 0 ? 0 : (anyParty[template] ?? 0)
    if (byParty.size > 0)
      for (const witness of witnesses) flags |= this.#flagsOf(witness)?.[template] ?? 0
    return flags
  }

  /** JSON of the witnesses that the filter may show (§L2.5). */
  shown(witnesses: readonly number[]): string {
    const isAnyone = this.#filter.anyParty !== null
    let list = ''
    for (const witness of witnesses)
      if (isAnyone || this.#flagsOf(witness) !== null)
        list += list === '' ? `"${this.#table[witness]}"` : `,"${this.#table[witness]}"`
    return `[${list}]`
  }

  hasOneOf(parties: readonly number[]): boolean {
    return this.#filter.anyParty !== null || parties.some((party) => this.#flagsOf(party) !== null)
  }

  #flagsOf(party: number): TemplateFlags | null {
    const known = this.#flags[party]
    if (known !== undefined) return known
    const flags = this.#filter.byParty.get(this.#table[party] ?? '') ?? null
    this.#flags[party] = flags
    return flags
  }
}

/** The events by which the update creates and archives the contract, as its stakeholders see them, also if transient. */
export function contractEventsJson(
  update: StoredUpdate,
  contractId: ContractId,
  filter: EventFilter,
): readonly string[] {
  const audience = new Audience(update, filter)
  return update.events
    .filter(({ contract }) => update.table[contract] === contractId)
    .flatMap((event) => stakeholderEvent(update, event, audience) ?? [])
}

function stakeholderEvent(update: StoredUpdate, event: StoredEvent, audience: Audience) {
  if (event.kind === 'exercised' && !event.consuming) return null
  const witnesses = stakeholdersOf(event)
  const flags = audience.flagsFor(event.template, witnesses)
  if ((flags & MATCHES) === 0) return null
  if (event.kind === 'created') {
    const isDelta = !event.isTransient
    return createdJson(update, event, { flags, witnesses: audience.shown(witnesses), isDelta })
  }
  return (
    `{"ArchivedEvent":{${commonJson(update, event)},"witnessParties":${audience.shown(witnesses)},` +
    `"packageName":"${textsOf(event.template).packageName}","implementedInterfaces":${interfacesJson(flags)}}}`
  )
}

function effectEvent(update: StoredUpdate, event: StoredEvent, audience: Audience): string | null {
  const witnesses = informeesOf(event)
  const flags = audience.flagsFor(event.template, witnesses)
  if ((flags & MATCHES) === 0) return null
  const isDelta =
    !event.isTransient &&
    (event.kind === 'created' || event.consuming) &&
    (audience.flagsFor(event.template, stakeholdersOf(event)) & MATCHES) !== 0
  if (event.kind === 'created')
    return createdJson(update, event, { flags, witnesses: audience.shown(witnesses), isDelta })
  return (
    `{"ExercisedEvent":{${commonJson(update, event)},"interfaceId":null,"choice":"${event.choice}",` +
    `"choiceArgument":${update.json(event.argument)},"actingParties":${namesJson(update, event.actors)},` +
    `"consuming":${event.consuming},"witnessParties":${audience.shown(witnesses)},` +
    `"lastDescendantNodeId":${event.lastDescendantNodeId},"exerciseResult":${update.json(event.result)},` +
    `"packageName":"${textsOf(event.template).packageName}","implementedInterfaces":${interfacesJson(flags)},` +
    `"acsDelta":${isDelta}}}`
  )
}

type Created = Extract<StoredEvent, { kind: 'created' }>

function createdJson(
  update: StoredUpdate,
  event: Created,
  shown: { readonly flags: number; readonly witnesses: string; readonly isDelta: boolean },
): string {
  const payload = update.json(event.payload)
  const created = createdEventJson(commonJson(update, event), {
    template: event.template,
    payload,
    blob: (shown.flags & WITH_BLOB) === 0 ? '' : blobOf(update, event, payload),
    signatories: namesJson(update, event.signatories),
    observers: namesJson(update, event.observers),
    createdAt: update.recordTime,
    ...shown,
  })
  return `{"CreatedEvent":${created}}`
}

/** A `CreatedEvent` of an update, or of a contract whose update was pruned. Parties and payload are JSON. */
export function createdEventJson(
  common: string,
  created: {
    readonly template: number
    readonly payload: string
    readonly blob: string
    readonly flags: number
    readonly witnesses: string
    readonly signatories: string
    readonly observers: string
    readonly createdAt: Micros
    readonly isDelta: boolean
  },
): string {
  const { payload } = created
  const { packageId, packageName } = textsOf(created.template)
  const views = (created.flags & WITH_VIEW) === 0 ? '[]' : viewsJson(payload, packageId)
  return (
    `{${common},"contractKey":null,"contractKeyHash":"",` +
    `"createArgument":${payload},"createdEventBlob":"${created.blob}","interfaceViews":${views},` +
    `"witnessParties":${created.witnesses},"signatories":${created.signatories},` +
    `"observers":${created.observers},"createdAt":"${formatLedgerInstant(created.createdAt)}",` +
    `"packageName":"${packageName}","representativePackageId":"${packageId}","acsDelta":${created.isDelta}}`
  )
}

function commonJson({ offset, table }: StoredUpdate, event: StoredEvent): string {
  const contractId = table[event.contract] ?? ''
  return eventJson({ offset, nodeId: event.nodeId, contractId, template: event.template })
}

/** The first members of every event. */
export function eventJson(event: {
  readonly offset: Offset
  readonly nodeId: number
  readonly contractId: ContractId
  readonly template: number
}): string {
  return (
    `"offset":${event.offset},"nodeId":${event.nodeId},"contractId":"${event.contractId}",` +
    `"templateId":"${textsOf(event.template).id}"`
  )
}

function namesJson({ table }: StoredUpdate, parties: readonly number[]): string {
  return parties.length === 0 ? '[]' : `["${parties.map((party) => table[party]).join('","')}"]`
}

function interfacesJson(flags: number): string {
  return (flags & BY_INTERFACE) === 0 ? '[]' : `["${HOLDING_ID}"]`
}

/** The canonical encoding that the contract id hashes (D-31), in Base64. */
function blobOf(update: StoredUpdate, event: Created, payload: string): string {
  const template = templates[event.template]
  if (template === undefined) return ''
  const bytes = contractBlob({
    updateId: update.updateId,
    nodeId: event.nodeId,
    templateId: templateIdOf(template),
    payload: encodePayload(template, template.type.decode(JSON.parse(payload), [])),
  })
  return Buffer.from(bytes).toString('base64')
}

function viewsJson(payload: string, packageId: string): string {
  return JSON.stringify([
    {
      interfaceId: HOLDING_ID,
      viewStatus: { code: 0, message: '', details: [] },
      viewValue: holdingViewOf(JSON.parse(payload)),
      implementationPackageId: packageId,
    },
  ])
}

function textsOf(template: number) {
  const texts = templateTexts[template]
  if (texts === undefined) throw new RangeError(`no template has the number ${template}`)
  return texts
}

function stakeholdersOf({ signatories, observers }: StoredEvent): readonly number[] {
  return observers.length === 0 ? signatories : [...signatories, ...observers]
}

/** Who sees the event in LEDGER_EFFECTS (§L2.4). */
function informeesOf(event: StoredEvent): readonly number[] {
  if (event.kind === 'created') return [...stakeholdersOf(event), ...event.inherited]
  const own = event.consuming ? stakeholdersOf(event) : event.signatories
  const actors = event.actors.filter((actor) => !own.includes(actor))
  return [...own, ...actors, ...event.inherited]
}

function traceJson(traceparent: string): string {
  return traceparent === '' ? 'null' : `{"traceparent":"${traceparent}","tracestate":null}`
}
