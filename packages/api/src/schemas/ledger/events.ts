/** Events as transactions and active contracts show them (docs/upstream.md §L2.3). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { Int32, Int64, namedOneOf, Timestamp, wrapped } from './relaxed.ts'

const texts = (description: string) => m.array(description, Type.String())
const lf = (description: string) =>
  Type.Unknown({ description: `${description}, as Daml-LF JSON.` })

const common = {
  offset: m.about(Int64, 'The offset of the transaction.'),
  nodeId: m.about(Int32, 'The place in the transaction, with gaps for events that are not shown.'),
  contractId: m.string('The id of the contract, in hex.'),
  templateId: m.string('By package id, whatever the request named.'),
}
const packageName = m.string('The package of the template.')
const witnessParties = texts('The requesting parties that see the event.')
const implementedInterfaces = texts('The requested interfaces that it implements.')
const acsDelta = m.boolean('Whether ACS_DELTA would show the event.')

export const CreatedEvent = m.component('CreatedEvent', 'A contract was created.', {
  ...common,
  contractKey: Type.Null({ description: 'There are no keys.' }),
  contractKeyHash: m.string('Empty: there are no keys.'),
  createArgument: lf('The fields of the contract'),
  createdEventBlob: m.string('Base64, to disclose the contract; empty unless requested.'),
  interfaceViews: m.array(
    'The views of the requested interfaces.',
    m.component('JsInterfaceView', 'A contract as an interface shows it.', {
      interfaceId: m.string('The interface.'),
      viewStatus: m.part('Whether the view could be made.', {
        code: m.about(Int32, '0 if there is a view.'),
        message: m.string('Why the view is missing.'),
        details: m.array('More about that.', Type.Unknown()),
      }),
      viewValue: lf('The view'),
      implementationPackageId: m.string('The package that made it.'),
    }),
  ),
  witnessParties,
  signatories: texts('The parties that signed the contract.'),
  observers: texts('Other parties that see it.'),
  createdAt: m.about(Timestamp, 'The ledger time of the transaction.'),
  packageName,
  representativePackageId: m.string('The package that shows the fields.'),
  acsDelta,
})

export const ArchivedEvent = m.component('ArchivedEvent', 'A contract was archived.', {
  ...common,
  witnessParties,
  packageName,
  implementedInterfaces,
})

const ExercisedEvent = m.component('ExercisedEvent', 'A choice was exercised.', {
  ...common,
  interfaceId: m.nullableText('The interface of the choice, if any.'),
  choice: m.string('The name of the choice.'),
  choiceArgument: lf('Its argument'),
  actingParties: texts('The parties that exercised it.'),
  consuming: m.boolean('Whether it archived the contract.'),
  witnessParties,
  lastDescendantNodeId: m.about(Int32, 'Events up to this node id follow from this one.'),
  exerciseResult: lf('Its result'),
  packageName,
  implementedInterfaces,
  acsDelta,
})

/** An event of a tree, which lists its events by their node ids. */
export const TreeEvent = namedOneOf('TreeEvent', 'An event of a tree.', {
  CreatedTreeEvent: wrapped(CreatedEvent),
  ExercisedTreeEvent: wrapped(ExercisedEvent),
})

export const Event = namedOneOf('Event', 'What happened to a contract.', {
  CreatedEvent,
  ArchivedEvent,
  ExercisedEvent,
})
