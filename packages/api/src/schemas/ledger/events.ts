/** Events as transactions and active contracts show them (docs/upstream.md §L2.3). */
import { Type } from 'typebox'
import { about, component, nullable, part } from '../members.ts'
import { Int32, Int64, oneOf, Timestamp, wrapped } from './relaxed.ts'

const texts = (description: string) => Type.Array(Type.String(), { description })
const lf = (description: string) =>
  Type.Unknown({ description: `${description}, as Daml-LF JSON.` })

const common = {
  offset: about(Int64, 'Of the transaction.'),
  nodeId: about(
    Int32,
    'The place in the transaction, ascending; with gaps where events are not shown.',
  ),
  contractId: Type.String({ description: 'The id of the contract, in hex.' }),
  templateId: Type.String({ description: 'By package id, whatever the request named.' }),
}
const packageName = Type.String({ description: 'The package of the template.' })
const witnessParties = texts('Who sees the event, of those who asked.')
const implementedInterfaces = texts('Those of the interfaces asked for.')
const acsDelta = Type.Boolean({ description: 'Whether ACS_DELTA would show the event.' })

export const CreatedEvent = component('CreatedEvent', 'A contract came to be.', {
  ...common,
  contractKey: Type.Null({ description: 'There are no keys.' }),
  contractKeyHash: Type.String({ description: 'Empty: there are no keys.' }),
  createArgument: lf('The fields of the contract'),
  createdEventBlob: Type.String({
    description: 'Base64, with which the contract can be disclosed; empty unless asked for.',
  }),
  interfaceViews: Type.Array(
    component('JsInterfaceView', 'A contract as an interface shows it.', {
      interfaceId: Type.String({ description: 'The interface.' }),
      viewStatus: part('Whether the view could be made.', {
        code: about(Int32, '0 if there is a view.'),
        message: Type.String({ description: 'Why there is none.' }),
        details: Type.Array(Type.Unknown(), { description: 'More about that.' }),
      }),
      viewValue: lf('The view'),
      implementationPackageId: Type.String({ description: 'The package that made it.' }),
    }),
    { description: 'Of the interfaces asked for.' },
  ),
  witnessParties,
  signatories: texts('Who signed the contract.'),
  observers: texts('Who sees it besides.'),
  createdAt: about(Timestamp, 'The ledger time of the transaction.'),
  packageName,
  representativePackageId: Type.String({ description: 'The package that shows the fields.' }),
  acsDelta,
})

export const ArchivedEvent = component('ArchivedEvent', 'A contract ceased to be.', {
  ...common,
  witnessParties,
  packageName,
  implementedInterfaces,
})

const ExercisedEvent = component('ExercisedEvent', 'A choice was exercised.', {
  ...common,
  interfaceId: about(nullable(Type.String()), 'The interface that the choice is of, if any.'),
  choice: Type.String({ description: 'The name of the choice.' }),
  choiceArgument: lf('Its argument'),
  actingParties: texts('Who exercised it.'),
  consuming: Type.Boolean({ description: 'Whether it archived the contract.' }),
  witnessParties,
  lastDescendantNodeId: about(Int32, 'Events up to this node id follow from this one.'),
  exerciseResult: lf('Its result'),
  packageName,
  implementedInterfaces,
  acsDelta,
})

/** Of trees, where events stand under their node ids. */
export const TreeEvent = oneOf(
  { CreatedTreeEvent: wrapped(CreatedEvent), ExercisedTreeEvent: wrapped(ExercisedEvent) },
  { title: 'TreeEvent', description: 'An event of a tree.' },
)

export const Event = oneOf(
  { CreatedEvent, ArchivedEvent, ExercisedEvent },
  { title: 'Event', description: 'What happened to a contract.' },
)
