/**
 * Commands of a request as commands of the ledger: names resolved, values read by their types
 * (docs/upstream.md §L4.5, step c).
 */
import type { JsCommand } from '@quorumscan/api'
import { LedgerError } from '@quorumscan/errors'
import {
  coin,
  findChoice,
  findTemplate,
  HOLDING_INTERFACE,
  type Lf,
  packages,
  readValueInput,
  type Template,
  templateRef,
  ValueInputError,
} from '@quorumscan/ledger'
import type { Command, DamlValue } from '@quorumscan/model'
import { invalidArgument, isPackageId, isPackageName, shown } from './grammar.ts'

/** Contracts by interface: which template it is says the contract (`resolveInterfaces`). */
export type ReadCommand = { readonly command: Command; readonly isByInterface: boolean }

type Target =
  | { readonly kind: 'template'; readonly template: Template<unknown> }
  | { readonly kind: 'interface'; readonly name: string }

/** The interface's package part may be an id, too. */
const INTERFACE_ENTITY = HOLDING_INTERFACE.slice(HOLDING_INTERFACE.indexOf(':'))

/** @throws {LedgerError} As listed for step c. */
export function readCommand(command: JsCommand, index: number): ReadCommand {
  const path = `commands[${index}]`
  if ('CreateCommand' in command) {
    const { templateId, createArguments } = command.CreateCommand
    const template = createdTemplate(templateId)
    const argument = readValue(template.type, createArguments, `${path}.createArguments`)
    return ofTemplate({ kind: 'create', template: templateRef(template), argument })
  }
  if ('CreateAndExerciseCommand' in command) {
    const { templateId, createArguments, choice, choiceArgument } = command.CreateAndExerciseCommand
    const template = createdTemplate(templateId)
    return ofTemplate({
      kind: 'createAndExercise',
      template: templateRef(template),
      createArgument: readValue(template.type, createArguments, `${path}.createArguments`),
      choice,
      argument: readChoice({ kind: 'template', template }, { choice, choiceArgument, path }),
    })
  }
  if ('ExerciseByKeyCommand' in command) {
    resolve(command.ExerciseByKeyCommand.templateId)
    throw invalidArgument(`${path}: no template of this ledger has keys`) // D-29.
  }
  const { templateId, contractId, choice, choiceArgument } = command.ExerciseCommand
  const target = resolve(templateId)
  const argument = readChoice(target, { choice, choiceArgument, path })
  const isByInterface = target.kind === 'interface'
  const template = templateRef(target.kind === 'template' ? target.template : coin)
  return { isByInterface, command: { kind: 'exercise', template, contractId, choice, argument } }
}

function ofTemplate(command: Command): ReadCommand {
  return { command, isByInterface: false }
}

/** @throws {LedgerError} For a name that is malformed or that nothing has. */
function resolve(reference: string): Target {
  const separator = reference.indexOf(':')
  const packagePart = reference.slice(0, separator)
  const isName = packagePart.startsWith('#')
  if (isName ? !isPackageName(packagePart.slice(1)) : !isPackageId(packagePart))
    throw invalidArgument(`${shown(packagePart)} is neither a package id nor # and a package name`)
  if (isName && !packages.some(({ name }) => `#${name}` === packagePart))
    throw new LedgerError(
      'JSON_API_PACKAGE_SELECTION_FAILED',
      `No vetted package has the name ${shown(packagePart.slice(1))}.`,
    )
  const template = findTemplate(reference)
  if (template !== undefined) return { kind: 'template', template }
  const found = packages.find(({ name, id }) => packagePart === `#${name}` || packagePart === id)
  if (found !== undefined && `#${found.name}${reference.slice(separator)}` === HOLDING_INTERFACE)
    return { kind: 'interface', name: INTERFACE_ENTITY.slice(1) }
  throw new LedgerError(
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
    `No template or interface has the id ${shown(reference)}.`,
  )
}

function createdTemplate(reference: string): Template<unknown> {
  const target = resolve(reference)
  if (target.kind === 'template') return target.template
  throw invalidArgument(`${shown(reference)} is an interface: it has no instances of its own`)
}

function readChoice(
  target: Target,
  input: { readonly choice: string; readonly choiceArgument: unknown; readonly path: string },
): DamlValue {
  const { choice, choiceArgument, path } = input
  // Built in, whatever the argument is: existing clients send null.
  if (choice === 'Archive') return {}
  const found = target.kind === 'template' ? findChoice(target.template, choice) : undefined
  if (found === undefined) {
    const name = target.kind === 'template' ? target.template.entity : target.name
    throw invalidArgument(`${path}: ${name} has no choice ${shown(choice)}`)
  }
  return readValue(found.argument, choiceArgument, `${path}.choiceArgument`)
}

function readValue(type: Lf<unknown>, value: unknown, path: string): DamlValue {
  try {
    return readValueInput(type, value)
  } catch (error) {
    if (!(error instanceof ValueInputError)) throw error
    throw new LedgerError(error.code, `${path}: ${error.message}`)
  }
}
