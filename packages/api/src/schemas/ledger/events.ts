/** Events as transactions and active contracts show them (docs/upstream.md §L2.3). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { Int32, Int64, oneOf, Timestamp, wrapped } from './relaxed.ts'

const texts = (description: string) => m.array(description, Type.String())
const lf = (description: string) =>
  Type.Unknown({ description: `${description}, as Daml-LF JSON.` })

const common = {
  offset: m.about(Int64, 'Of the transaction.'),
  nodeId: m.about(
    Int32,
    'The place in the transaction, ascending; with gaps where events are not shown.',
  ),
  contractId: m.string('The id of the contract, in hex.'),
  templateId: m.string('By package id, whatever the request named.'),
}
const packageName = m.string('The package of the template.')
const witnessParties = texts('Who sees the event, of those who asked.')
const implementedInterfaces = texts('Those of the interfaces asked for.')
const acsDelta = m.boolean('Whether ACS_DELTA would show the event.')

export const CreatedEvent = m.component('CreatedEvent', 'A contract came to be.', {
  ...common,
  contractKey: Type.Null({ description: 'There are no keys.' }),
  contractKeyHash: m.string('Empty: there are no keys.'),
  createArgument: lf('The fields of the contract'),
  createdEventBlob: m.string(
    'Base64, with which the contract can be disclosed; empty unless asked for.',
  ),
  interfaceViews: m.array(
    'Of the interfaces asked for.',
    m.component('JsInterfaceView', 'A contract as an interface shows it.', {
      interfaceId: m.string('The interface.'),
      viewStatus: m.part('Whether the view could be made.', {
        code: m.about(Int32, '0 if there is a view.'),
        message: m.string('Why there is none.'),
        details: m.array('More about that.', Type.Unknown()),
      }),
      viewValue: lf('The view'),
      implementationPackageId: m.string('The package that made it.'),
    }),
  ),
  witnessParties,
  signatories: texts('Who signed the contract.'),
  observers: texts('Who sees it besides.'),
  createdAt: m.about(Timestamp, 'The ledger time of the transaction.'),
  packageName,
  representativePackageId: m.string('The package that shows the fields.'),
  acsDelta,
})

export const ArchivedEvent = m.component('ArchivedEvent', 'A contract ceased to be.', {
  ...common,
  witnessParties,
  packageName,
  implementedInterfaces,
})

const ExercisedEvent = m.component('ExercisedEvent', 'A choice was exercised.', {
  ...common,
  interfaceId: m.nullableText('The interface that the choice is of, if any.'),
  choice: m.string('The name of the choice.'),
  choiceArgument: lf('Its argument'),
  actingParties: texts('Who exercised it.'),
  consuming: m.boolean('Whether it archived the contract.'),
  witnessParties,
  lastDescendantNodeId: m.about(Int32, 'Events up to this node id follow from this one.'),
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
