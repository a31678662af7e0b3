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
  NEWEST_RULES,
  packages,
  readValueInput,
  type Template,
  templateRef,
  ValueInputError,
} from '@quorumscan/ledger'
import type { Command, DamlValue } from '@quorumscan/model'
import { invalidArgument, isPackageId, isPackageName, quoted } from './grammar.ts'

/** `isByInterface`: the contract decides which template it is (`resolveInterfaces`). */
export type ReadCommand = { readonly command: Command; readonly isByInterface: boolean }

/** Null: the one interface. */
type Target = Template<unknown> | null

/** @throws {LedgerError} As listed for step c. */
export function readCommand(command: JsCommand, index: number): ReadCommand {
  const path = `commands[${index}]`
  if ('ExerciseByKeyCommand' in command) {
    resolve(command.ExerciseByKeyCommand.templateId)
    throw invalidArgument(`${path}: no template of this ledger has keys`) // D-29.
  }
  if ('ExerciseCommand' in command) {
    const { templateId, contractId, choice } = command.ExerciseCommand
    const target = resolve(templateId)
    const argument = readChoice(target, command.ExerciseCommand, path)
    const template = templateRef(target ?? coin)
    const exercise = { kind: 'exercise', template, contractId, choice, argument } as const
    return { isByInterface: target === null, command: exercise }
  }
  const { templateId, createArguments } =
    'CreateCommand' in command ? command.CreateCommand : command.CreateAndExerciseCommand
  const target = resolve(templateId)
  if (target === null)
    throw invalidArgument(`${quoted(templateId)} is an interface: it has no instances of its own`)
  const template = templateRef(target)
  const created = readValue(target.type, createArguments, `${path}.createArguments`)
  const byTemplate = (read: Command): ReadCommand => ({ isByInterface: false, command: read })
  if ('CreateCommand' in command) return byTemplate({ kind: 'create', template, argument: created })
  const { choice } = command.CreateAndExerciseCommand
  const argument = readChoice(target, command.CreateAndExerciseCommand, path)
  const kind = 'createAndExercise'
  return byTemplate({ kind, template, createArgument: created, choice, argument })
}

/** @throws {LedgerError} For a name that is malformed or unknown. */
function resolve(reference: string): Target {
  const separator = reference.indexOf(':')
  const packagePart = reference.slice(0, separator)
  const isName = packagePart.startsWith('#')
  if (isName ? !isPackageName(packagePart.slice(1)) : !isPackageId(packagePart))
    throw invalidArgument(`${quoted(packagePart)} is neither a package id nor # and a package name`)
  const known = packages.find(({ name, id }) => packagePart === (isName ? `#${name}` : id))
  if (isName && known === undefined)
    throw new LedgerError(
      'JSON_API_PACKAGE_SELECTION_FAILED',
      `No vetted package has the name ${quoted(packagePart.slice(1))}.`,
    )
  // The ledger decides by the version in force when the entry is ordered.
  const template = findTemplate(reference, NEWEST_RULES.version)
  if (template !== undefined) return template
  if (`#${known?.name}${reference.slice(separator)}` === HOLDING_INTERFACE) return null
  throw new LedgerError(
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
    `No template or interface has the id ${quoted(reference)}.`,
  )
}

function readChoice(
  target: Target,
  { choice, choiceArgument }: { readonly choice: string; readonly choiceArgument: unknown },
  path: string,
): DamlValue {
  // Built in, whatever the argument is: existing clients send null.
  if (choice === 'Archive') return {}
  const found = target === null ? undefined : findChoice(target, choice)
  if (found !== undefined)
    return readValue(found.argument, choiceArgument, `${path}.choiceArgument`)
  const name = target?.entity ?? HOLDING_INTERFACE
  throw invalidArgument(`${path}: ${name} has no choice ${quoted(choice)}`)
}

function readValue(type: Lf<unknown>, value: unknown, path: string): DamlValue {
  try {
    return readValueInput(type, value)
  } catch (error) {
    if (!(error instanceof ValueInputError)) throw error
    throw new LedgerError(error.code, `${path}: ${error.message}`)
  }
}
