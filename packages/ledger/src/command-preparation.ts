/** Commands of a submission with templates and choices resolved and values decoded, before any state is read. */
import type { Command, ContractId, DamlValue } from '@quorumscan/model'
import { LfError } from './lf.ts'
import { Refusal, refuse } from './refusal.ts'
import { type AnyChoice, REGISTRY, type Registry } from './registry.ts'
import type { Rules } from './rules.ts'
import type { Template } from './template.ts'
import type { LedgerTransaction } from './transaction.ts'

export type PreparedCommand =
  | {
      readonly kind: 'ready'
      /** Every contract that the command names, its values included. */
      readonly contractIds: readonly ContractId[]
      run(tx: LedgerTransaction): void
    }
  | { readonly kind: 'allocateParty'; readonly hint: string }

/** A refusal (INVALID_ARGUMENT) names the command and the member. */
export function prepareCommands(
  commands: readonly Command[],
  rules: Rules,
  registry: Registry = REGISTRY,
): readonly PreparedCommand[] | Refusal {
  const prepared: PreparedCommand[] = []
  for (const [index, command] of commands.entries())
    try {
      prepared.push(prepareCommand(command, { rules, registry }))
    } catch (error) {
      if (error instanceof Refusal) return error
      if (!(error instanceof LfError)) throw error
      return new Refusal('INVALID_ARGUMENT', `commands[${index}]: ${error.message}`)
    }
  return prepared
}

/** Rules with the definitions that they choose from. */
type InForce = { readonly rules: Rules; readonly registry: Registry }

function prepareCommand(command: Command, by: InForce): PreparedCommand {
  switch (command.kind) {
    case 'allocateParty':
      return { kind: 'allocateParty', hint: command.hint }
    case 'create': {
      const template = resolveTemplate(command.template, by)
      const contractIds: ContractId[] = []
      const payload = template.type.decode(command.argument, contractIds)
      return { kind: 'ready', contractIds, run: (tx) => tx.create(template, payload) }
    }
    case 'exercise': {
      const template = resolveTemplate(command.template, by)
      const contractIds = [command.contractId]
      const act = prepareChoice(template, command, { contractIds, ...by })
      return { kind: 'ready', contractIds, run: (tx) => act(tx, command.contractId) }
    }
    case 'createAndExercise': {
      const template = resolveTemplate(command.template, by)
      const contractIds: ContractId[] = []
      const payload = template.type.decode(command.createArgument, contractIds)
      const act = prepareChoice(template, command, { contractIds, ...by })
      return { kind: 'ready', contractIds, run: (tx) => act(tx, tx.create(template, payload)) }
    }
  }
}

function prepareChoice(
  template: Template<unknown>,
  command: { readonly choice: string; readonly argument: DamlValue },
  into: InForce & { readonly contractIds: ContractId[] },
): (tx: LedgerTransaction, id: ContractId) => void {
  if (command.choice === 'Archive') return (tx, id) => tx.archive(template, id)
  const choice: AnyChoice | undefined = into.registry.findChoice(template, command.choice)
  if (choice === undefined)
    refuse('INVALID_ARGUMENT', `${template.entity} has no choice ${command.choice}`)
  const argument = choice.argument.decode(command.argument, into.contractIds)
  choice.checkArgument?.(argument, into.rules)
  return (tx, id) => tx.exercise(choice, id, argument)
}

function resolveTemplate(ref: string, { rules, registry }: InForce): Template<unknown> {
  return (
    registry.findTemplate(ref, rules.version) ??
    refuse('INVALID_ARGUMENT', `there is no template ${ref}`)
  )
}
