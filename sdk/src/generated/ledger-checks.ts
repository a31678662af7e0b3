// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.
import type { components as ledger } from './ledger.ts'

type Members = Readonly<Record<string, unknown>>

const isObject = (v: unknown): v is Members =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>
  Array.isArray(v) && v.every(is)

function isArchivedEvent(v: unknown): v is ledger['schemas']["ArchivedEvent"] {
  return isObject(v) && Number.isSafeInteger(v['offset']) && Number.isSafeInteger(v['nodeId']) && typeof v['contractId'] === 'string' && typeof v['templateId'] === 'string' && isList(v['witnessParties'], (e0) => typeof e0 === 'string') && typeof v['packageName'] === 'string' && isList(v['implementedInterfaces'], (e0) => typeof e0 === 'string')
}

function isCreatedEvent(v: unknown): v is ledger['schemas']["CreatedEvent"] {
  return isObject(v) && Number.isSafeInteger(v['offset']) && Number.isSafeInteger(v['nodeId']) && typeof v['contractId'] === 'string' && typeof v['templateId'] === 'string' && v['contractKey'] === null && typeof v['contractKeyHash'] === 'string' && typeof v['createdEventBlob'] === 'string' && isList(v['interfaceViews'], (e0) => isJsInterfaceView(e0)) && isList(v['witnessParties'], (e0) => typeof e0 === 'string') && isList(v['signatories'], (e0) => typeof e0 === 'string') && isList(v['observers'], (e0) => typeof e0 === 'string') && typeof v['createdAt'] === 'string' && typeof v['packageName'] === 'string' && typeof v['representativePackageId'] === 'string' && typeof v['acsDelta'] === 'boolean'
}

function isEvent(v: unknown): v is ledger['schemas']["Event"] {
  return (isObject(v) && isCreatedEvent(v['CreatedEvent']) || isObject(v) && isArchivedEvent(v['ArchivedEvent']) || isObject(v) && isExercisedEvent(v['ExercisedEvent']))
}

function isExercisedEvent(v: unknown): v is ledger['schemas']["ExercisedEvent"] {
  return isObject(v) && Number.isSafeInteger(v['offset']) && Number.isSafeInteger(v['nodeId']) && typeof v['contractId'] === 'string' && typeof v['templateId'] === 'string' && (typeof v['interfaceId'] === 'string' || v['interfaceId'] === null) && typeof v['choice'] === 'string' && isList(v['actingParties'], (e0) => typeof e0 === 'string') && typeof v['consuming'] === 'boolean' && isList(v['witnessParties'], (e0) => typeof e0 === 'string') && Number.isSafeInteger(v['lastDescendantNodeId']) && typeof v['packageName'] === 'string' && isList(v['implementedInterfaces'], (e0) => typeof e0 === 'string') && typeof v['acsDelta'] === 'boolean'
}

export function isGetLedgerEndResponse(v: unknown): v is ledger['schemas']["GetLedgerEndResponse"] {
  return isObject(v) && Number.isSafeInteger(v['offset'])
}

export function isJsGetEventsByContractIdResponse(v: unknown): v is ledger['schemas']["JsGetEventsByContractIdResponse"] {
  return isObject(v) && isObject(v['created']) && isCreatedEvent(v['created']['createdEvent']) && typeof v['created']['synchronizerId'] === 'string' && (isObject(v['archived']) && isArchivedEvent(v['archived']['archivedEvent']) && typeof v['archived']['synchronizerId'] === 'string' || v['archived'] === null)
}

export function isJsGetUpdatesResponse(v: unknown): v is ledger['schemas']["JsGetUpdatesResponse"] {
  return isObject(v) && isUpdate(v['update'])
}

function isJsInterfaceView(v: unknown): v is ledger['schemas']["JsInterfaceView"] {
  return isObject(v) && typeof v['interfaceId'] === 'string' && isObject(v['viewStatus']) && Number.isSafeInteger(v['viewStatus']['code']) && typeof v['viewStatus']['message'] === 'string' && isList(v['viewStatus']['details'], (e0) => true) && typeof v['implementationPackageId'] === 'string'
}

function isJsTopologyTransaction(v: unknown): v is ledger['schemas']["JsTopologyTransaction"] {
  return isObject(v) && typeof v['updateId'] === 'string' && Number.isSafeInteger(v['offset']) && typeof v['synchronizerId'] === 'string' && typeof v['recordTime'] === 'string' && isList(v['events'], (e0) => isObject(e0) && isObject(e0['event']) && isObject(e0['event']['ParticipantAuthorizationAdded']) && isParticipantAuthorizationAdded(e0['event']['ParticipantAuthorizationAdded']['value'])) && (isTraceContext(v['traceContext']) || v['traceContext'] === null)
}

function isJsTransaction(v: unknown): v is ledger['schemas']["JsTransaction"] {
  return isObject(v) && typeof v['updateId'] === 'string' && typeof v['commandId'] === 'string' && typeof v['workflowId'] === 'string' && typeof v['effectiveAt'] === 'string' && Number.isSafeInteger(v['offset']) && typeof v['synchronizerId'] === 'string' && (isTraceContext(v['traceContext']) || v['traceContext'] === null) && typeof v['recordTime'] === 'string' && isList(v['events'], (e0) => isEvent(e0)) && (typeof v['externalTransactionHash'] === 'string' || v['externalTransactionHash'] === null) && (Number.isSafeInteger(v['paidTrafficCost']) || v['paidTrafficCost'] === null)
}

function isOffsetCheckpoint(v: unknown): v is ledger['schemas']["OffsetCheckpoint"] {
  return isObject(v) && Number.isSafeInteger(v['offset']) && isList(v['synchronizerTimes'], (e0) => isSynchronizerTime(e0))
}

function isParticipantAuthorizationAdded(v: unknown): v is ledger['schemas']["ParticipantAuthorizationAdded"] {
  return isObject(v) && typeof v['partyId'] === 'string' && typeof v['participantId'] === 'string' && typeof v['participantPermission'] === 'string'
}

export function isSubmitAndWaitResponse(v: unknown): v is ledger['schemas']["SubmitAndWaitResponse"] {
  return isObject(v) && typeof v['updateId'] === 'string' && Number.isSafeInteger(v['completionOffset'])
}

function isSynchronizerTime(v: unknown): v is ledger['schemas']["SynchronizerTime"] {
  return isObject(v) && typeof v['synchronizerId'] === 'string' && typeof v['recordTime'] === 'string'
}

function isTraceContext(v: unknown): v is ledger['schemas']["TraceContext"] {
  return isObject(v) && (typeof v['traceparent'] === 'string' || v['traceparent'] === null) && (typeof v['tracestate'] === 'string' || v['tracestate'] === null)
}

function isUpdate(v: unknown): v is ledger['schemas']["Update"] {
  return (isObject(v) && isObject(v['Transaction']) && isJsTransaction(v['Transaction']['value']) || isObject(v) && isObject(v['OffsetCheckpoint']) && isOffsetCheckpoint(v['OffsetCheckpoint']['value']) || isObject(v) && isObject(v['TopologyTransaction']) && isJsTopologyTransaction(v['TopologyTransaction']['value']))
}
