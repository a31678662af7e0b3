/** Events as transactions and active contracts show them (docs/upstream.md §L2.3). */
import { Type } from 'typebox'
import { Int32, Int64, nullable, oneOf, Timestamp, wrapped } from './relaxed.ts'

const Parties = Type.Array(Type.String())
/** Daml-LF JSON. */
const LfValue = Type.Unknown()

const common = {
  offset: Int64,
  nodeId: Int32,
  contractId: Type.String(),
  /** By package id, whatever the request named. */
  templateId: Type.String(),
}

export const CreatedEvent = Type.Object(
  {
    ...common,
    contractKey: Type.Null(),
    contractKeyHash: Type.String(),
    createArgument: LfValue,
    createdEventBlob: Type.String({ description: 'Base64; empty unless asked for.' }),
    interfaceViews: Type.Array(
      Type.Object(
        {
          interfaceId: Type.String(),
          viewStatus: Type.Object({
            code: Int32,
            message: Type.String(),
            details: Type.Array(Type.Unknown()),
          }),
          viewValue: LfValue,
          implementationPackageId: Type.String(),
        },
        { title: 'JsInterfaceView' },
      ),
    ),
    witnessParties: Parties,
    signatories: Parties,
    observers: Parties,
    createdAt: Timestamp,
    packageName: Type.String(),
    representativePackageId: Type.String(),
    acsDelta: Type.Boolean(),
  },
  { title: 'CreatedEvent' },
)

const ArchivedEvent = Type.Object(
  {
    ...common,
    witnessParties: Parties,
    packageName: Type.String(),
    implementedInterfaces: Type.Array(Type.String()),
  },
  { title: 'ArchivedEvent' },
)

const ExercisedEvent = Type.Object(
  {
    ...common,
    interfaceId: nullable(Type.String()),
    choice: Type.String(),
    choiceArgument: LfValue,
    actingParties: Parties,
    consuming: Type.Boolean(),
    witnessParties: Parties,
    lastDescendantNodeId: Int32,
    exerciseResult: LfValue,
    packageName: Type.String(),
    implementedInterfaces: Type.Array(Type.String()),
    acsDelta: Type.Boolean(),
  },
  { title: 'ExercisedEvent' },
)

/** Of trees, where events stand under their node ids. */
export const TreeEvent = oneOf(
  { CreatedTreeEvent: wrapped(CreatedEvent), ExercisedTreeEvent: wrapped(ExercisedEvent) },
  'TreeEvent',
)

export const Event = oneOf({ CreatedEvent, ArchivedEvent, ExercisedEvent }, 'Event')
