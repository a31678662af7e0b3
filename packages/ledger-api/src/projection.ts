/**
 * What parties see of an update (docs/upstream.md §L2): the events that a filter matches, with the witnesses that it
 * names, as values. `update-json.ts` writes them.
 */
import {
  contractBlob,
  encodePayload,
  holdingViewOf,
  templateIdOf,
  templates,
} from '@quorumscan/ledger'
import { type ContractId, partyParticipant } from '@quorumscan/model'
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
import { participantIdOf } from './participant-id.ts'
import {
  type ShownCreated,
  type ShownEvent,
  type ShownTopology,
  type ShownTransaction,
  type ShownUpdate,
  updateJson,
} from './update-json.ts'

/** The element of a stream for an update, as JSON; null if the stream does not show it. */
export type Projection = (update: StoredUpdate) => string | null

/** `{"update": …}` of transactions and topology transactions, by the view. */
export function createProjection(view: UpdateView, synchronizerId: string): Projection {
  return (update) => {
    const shown = showUpdate(update, view)
    return shown === null ? null : updateJson(shown, synchronizerId)
  }
}

/** Null if the view does not show the update. */
export function showUpdate(update: StoredUpdate, view: UpdateView): ShownUpdate | null {
  const { transactions, topology } = view
  if (update.allocated.length > 0) return topology && showTopology(update, topology)
  return transactions && showTransaction(update, transactions)
}

/** Null if no event remains, unless it is shown without events. */
export function showTransaction(
  update: StoredUpdate,
  view: TransactionView,
  { isShownEmpty = false }: { readonly isShownEmpty?: boolean } = {},
): ShownTransaction | null {
  const audience = new Audience(update, view.filter)
  const { shape } = view
  const events: ShownEvent[] = []
  for (const event of update.events) {
    const shown =
      shape !== 'acs-delta'
        ? effectEvent(update, event, audience)
        : event.isTransient
          ? null
          : stakeholderEvent(update, event, audience)
    if (shown !== null) events.push(shown)
  }
  if (events.length === 0 && !isShownEmpty) return null
  return {
    kind: 'transaction',
    shape,
    updateId: update.updateId,
    commandId: audience.hasOneOf(update.submitters) ? update.commandId : '',
    workflowId: update.workflowId,
    offset: update.offset,
    recordTime: update.recordTime,
    traceparent: update.traceparent,
    events,
  }
}

function showTopology(
  update: StoredUpdate,
  parties: ReadonlySet<string> | 'all',
): ShownTopology | null {
  const hosted = namesOf(update, update.allocated)
    .filter((party) => parties === 'all' || parties.has(party))
    .map((party) => ({ party, participantId: participantIdOf(partyParticipant(party)) }))
  if (hosted.length === 0) return null
  const { updateId, offset, recordTime } = update
  return { kind: 'topology', updateId, offset, recordTime, hosted }
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

  /** The witnesses that the filter may show (§L2.5). */
  shown(witnesses: readonly number[]): readonly string[] {
    const isAnyone = this.#filter.anyParty !== null
    const names: string[] = []
    for (const witness of witnesses)
      if (isAnyone || this.#flagsOf(witness) !== null) names.push(this.#table[witness] ?? '')
    return names
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
export function showContractEvents(
  update: StoredUpdate,
  contractId: ContractId,
  filter: EventFilter,
): readonly ShownEvent[] {
  const audience = new Audience(update, filter)
  return update.events
    .filter(({ contract }) => update.table[contract] === contractId)
    .flatMap((event) => stakeholderEvent(update, event, audience) ?? [])
}

function stakeholderEvent(
  update: StoredUpdate,
  event: StoredEvent,
  audience: Audience,
): ShownEvent | null {
  if (event.kind === 'exercised' && !event.consuming) return null
  const witnesses = stakeholdersOf(event)
  const flags = audience.flagsFor(event.template, witnesses)
  if ((flags & MATCHES) === 0) return null
  const names = audience.shown(witnesses)
  if (event.kind === 'created')
    return showCreated(update, event, { flags, witnesses: names, isDelta: !event.isTransient })
  return {
    kind: 'archived',
    offset: update.offset,
    nodeId: event.nodeId,
    contractId: update.table[event.contract] ?? '',
    template: event.template,
    witnesses: names,
    isByInterface: (flags & BY_INTERFACE) !== 0,
  }
}

function effectEvent(
  update: StoredUpdate,
  event: StoredEvent,
  audience: Audience,
): ShownEvent | null {
  const witnesses = informeesOf(event)
  const flags = audience.flagsFor(event.template, witnesses)
  if ((flags & MATCHES) === 0) return null
  const isDelta =
    !event.isTransient &&
    (event.kind === 'created' || event.consuming) &&
    (audience.flagsFor(event.template, stakeholdersOf(event)) & MATCHES) !== 0
  const names = audience.shown(witnesses)
  if (event.kind === 'created')
    return showCreated(update, event, { flags, witnesses: names, isDelta })
  return {
    kind: 'exercised',
    offset: update.offset,
    nodeId: event.nodeId,
    contractId: update.table[event.contract] ?? '',
    template: event.template,
    choice: event.choice,
    argument: update.json(event.argument),
    actors: namesOf(update, event.actors),
    consuming: event.consuming,
    witnesses: names,
    lastDescendantNodeId: event.lastDescendantNodeId,
    result: update.json(event.result),
    isByInterface: (flags & BY_INTERFACE) !== 0,
    isDelta,
  }
}

type Created = Extract<StoredEvent, { kind: 'created' }>

function showCreated(
  update: StoredUpdate,
  event: Created,
  shown: {
    readonly flags: number
    readonly witnesses: readonly string[]
    readonly isDelta: boolean
  },
): ShownCreated {
  const { flags, witnesses, isDelta } = shown
  const payload = update.json(event.payload)
  return {
    kind: 'created',
    offset: update.offset,
    nodeId: event.nodeId,
    contractId: update.table[event.contract] ?? '',
    template: event.template,
    payload,
    blob: (flags & WITH_BLOB) === 0 ? '' : blobOf(update, event, payload),
    view: (flags & WITH_VIEW) === 0 ? null : holdingViewOf(JSON.parse(payload)),
    witnesses,
    signatories: namesOf(update, event.signatories),
    observers: namesOf(update, event.observers),
    createdAt: update.recordTime,
    isDelta,
  }
}

function namesOf({ table }: StoredUpdate, parties: readonly number[]): readonly string[] {
  const names: string[] = []
  for (const party of parties) names.push(table[party] ?? '')
  return names
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
