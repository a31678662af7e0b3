/**
 * Every version of every template with its choices, and the ids that follow from their definitions (D-31). A change of the
 * definitions appends here: what exists keeps its ids, because contracts, logs and stored indexes name them.
 */
import { assert, sha256, toHex, utf8 } from '@quorumscan/base'
import type { Contract, TemplateId } from '@quorumscan/model'
import { canonicalJson, type Json } from '@quorumscan/verifier'
import * as ansEntryChoices from './choices/ans-entry.ts'
import * as ansEntryContextChoices from './choices/ans-entry-context.ts'
import * as ansRulesChoices from './choices/ans-rules.ts'
import * as coinRulesChoices from './choices/coin-rules.ts'
import * as confirmActionChoices from './choices/confirm-action.ts'
import * as dsoRulesChoices from './choices/dso-rules.ts'
import * as lockedCoinChoices from './choices/locked-coin.ts'
import * as idleChoices from './choices/subscription-idle-state.ts'
import * as initialPaymentChoices from './choices/subscription-initial-payment.ts'
import * as paymentChoices from './choices/subscription-payment.ts'
import * as requestChoices from './choices/subscription-request.ts'
import * as instructionChoices from './choices/transfer-instruction.ts'
import { LfError } from './lf.ts'
import {
  type Choice,
  isOf,
  ownPayloadOf,
  type PackageName,
  type Template,
  templateRef,
} from './template.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { ansEntryContext } from './templates/ans-entry-context.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { confirmation } from './templates/confirmation.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { lockedCoin } from './templates/locked-coin.ts'
import { openMiningRound } from './templates/open-mining-round.ts'
import { scanAddress } from './templates/scan-address.ts'
import { subscription } from './templates/subscription.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from './templates/subscription-initial-payment.ts'
import { subscriptionPayment } from './templates/subscription-payment.ts'
import { subscriptionRequest } from './templates/subscription-request.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'
import { transferInstruction } from './templates/transfer-instruction.ts'

type AnyTemplate = Template<unknown>
/** Parameters are erased here: the engine pairs each choice with values that its own types decoded. */
export type AnyChoice = Choice<unknown, unknown, unknown>

/** The order is part of the stored form of contracts (`contract-codec.ts`): append only. */
const TEMPLATES: readonly AnyTemplate[] = [
  ansRules,
  ansEntryContext,
  ansEntry,
  subscriptionRequest,
  subscription,
  subscriptionInitialPayment,
  subscriptionIdleState,
  subscriptionPayment,
  terminatedSubscription,
  coinRules,
  openMiningRound,
  coin,
  lockedCoin,
  transferInstruction,
  dsoRules,
  confirmation,
  scanAddress,
]

function isChoice(value: unknown): value is AnyChoice {
  return typeof value === 'object' && value !== null && 'controllers' in value && 'run' in value
}

const CHOICES: readonly AnyChoice[] = [
  ansEntryChoices,
  ansEntryContextChoices,
  ansRulesChoices,
  coinRulesChoices,
  confirmActionChoices,
  dsoRulesChoices,
  lockedCoinChoices,
  idleChoices,
  initialPaymentChoices,
  paymentChoices,
  requestChoices,
  instructionChoices,
].flatMap((module): AnyChoice[] => Object.values(module).filter(isChoice))

/** One interface, without choices: a view of `Coin` and `LockedCoin` (D-31). */
export const HOLDING_INTERFACE = '#quorumscan-coin:Coin.Holding:Holding'

/** The definitions that a package got with one version of the protocol. */
export type PackageInfo = {
  readonly name: PackageName
  readonly id: string
  readonly since: number
  /** Canonical JSON of the definitions, which the id hashes. */
  readonly content: string
}

const PACKAGE_NAMES = [
  'quorumscan-name-service',
  'quorumscan-wallet',
  'quorumscan-coin',
  'quorumscan-dso',
] as const

export type Registry = ReturnType<typeof createRegistry>

/**
 * @param templates - Every version of every template, a later version after the earlier one.
 * @param choices - A version of a template has its own ones and those of earlier versions. A choice never changes: its
 *   effect may follow `tx.rules`, and another argument is another choice.
 */
export function createRegistry(templates: readonly AnyTemplate[], choices: readonly AnyChoice[]) {
  const choicesByTemplate = new Map<AnyTemplate, readonly AnyChoice[]>()
  const newestByRef = new Map<string, AnyTemplate>()
  for (const template of templates) {
    const { earlier, entity, since } = template
    assert(
      newestByRef.get(templateRef(template)) === earlier?.template,
      `${entity} of version ${since} follows the version before it`,
    )
    assert(
      earlier === null || earlier.template.since < since,
      `${entity} has one version for each version of the protocol`,
    )
    newestByRef.set(templateRef(template), template)
    const inherited = earlier === null ? [] : (choicesByTemplate.get(earlier.template) ?? [])
    const own = choices.filter((choice) => choice.template === template)
    const all = [...inherited, ...own].sort((a, b) => (a.name < b.name ? -1 : 1))
    assert(
      new Set(all.map(({ name }) => name)).size === all.length,
      `no choice of ${entity} replaces another`,
    )
    choicesByTemplate.set(template, all)
  }

  const choicesOf = (template: AnyTemplate): readonly AnyChoice[] =>
    choicesByTemplate.get(template) ?? []

  const definitionOf = (template: AnyTemplate): Json => ({
    module: template.module,
    entity: template.entity,
    type: template.type.descriptor,
    choices: choicesOf(template).map((choice) => ({
      name: choice.name,
      consuming: choice.consuming,
      argument: choice.argument.descriptor,
      result: choice.result.descriptor,
    })),
  })

  /** In order of `since`, so that later packages are appended. */
  const packages: readonly PackageInfo[] = (() => {
    const versions = [...new Set(templates.map(({ since }) => since))].sort((a, b) => a - b)
    const made: PackageInfo[] = []
    for (const since of versions)
      for (const name of PACKAGE_NAMES) {
        const definition = templates
          .filter((template) => template.packageName === name && template.since === since)
          .map(definitionOf)
        if (definition.length === 0) continue
        const before = made.findLast((other) => other.name === name)
        // The first package of a name has no more members: ids of existing networks follow from these two.
        const content = canonicalJson(
          before === undefined
            ? { name, definition }
            : { name, definition, protocolVersion: since, after: before.id },
        )
        made.push({ name, id: toHex(sha256(utf8(content))), since, content })
      }
    return made
  })()

  const idByTemplate: ReadonlyMap<AnyTemplate, TemplateId> = new Map(
    templates.map((template) => {
      const { packageName, since, module, entity } = template
      const found = packages.find((one) => one.name === packageName && one.since === since)
      assert(found !== undefined, `${packageName} is a package`)
      return [template, `${found.id}:${module}:${entity}`]
    }),
  )
  const templateById = new Map([...idByTemplate].map(([template, id]) => [id, template]))

  /** `<package id>:<Module>:<Entity>`. */
  function templateIdOf<P>(template: Template<P>): TemplateId {
    const id = idByTemplate.get(template)
    assert(id !== undefined, `${template.entity} is registered`)
    return id
  }

  /** The newest version of the template that a version of the protocol has. */
  function newest(ref: string, protocolVersion: number): AnyTemplate | undefined {
    let template = newestByRef.get(ref)
    while (template !== undefined && template.since > protocolVersion)
      template = template.earlier?.template
    return template
  }

  /**
   * By package id, or by `#` and package name: then in the newest version in force. Undefined if it does not exist under
   * this version of the protocol.
   */
  function findTemplate(ref: string, protocolVersion: number): AnyTemplate | undefined {
    const byId = templateById.get(ref)
    if (byId === undefined) return newest(ref, protocolVersion)
    return byId.since <= protocolVersion ? byId : undefined
  }

  function findChoice(template: AnyTemplate, name: string): AnyChoice | undefined {
    return choicesOf(template).find((choice) => choice.name === name)
  }

  /** The version with which the contract was created; of an exercise, that of `exercisedId`. */
  function templateOf({ templateId }: Pick<Contract, 'templateId'>): AnyTemplate {
    const template = templateById.get(templateId)
    assert(template !== undefined, `${templateId} is a template`)
    return template
  }

  /** A payload of one version as one of another version. An earlier version has no members that a later one lacks. */
  function convert(payload: unknown, from: AnyTemplate, to: AnyTemplate): unknown {
    if (from.since >= to.since || to.earlier === null) return payload
    return to.earlier.upgrade(convert(payload, from, to.earlier.template))
  }

  /**
   * The payload in native form. The contract must be of the template, in any version.
   *
   * @throws {LfError} If it is not.
   */
  function payloadOf<P>(template: Template<P>, contract: Contract): P {
    if (!isOf(template, contract))
      throw new LfError(`is no ${template.entity}`, contract.contractId)
    const own = templateOf(contract)
    // `defineNextVersion` demands that later payloads extend earlier ones.
    return convert(ownPayloadOf(own, contract), own, template) as P
  }

  /** What a transaction creates for this payload: a contract of the newest version in force. */
  function inForce<P>(template: Template<P>, payload: P, protocolVersion: number) {
    assert(
      template.since <= protocolVersion,
      `${template.entity} of version ${template.since} is not in force`,
    )
    const current = newest(templateRef(template), protocolVersion) ?? template
    return { template: current, payload: convert(payload, template, current) }
  }

  /** The id that an exercise reports: that of the contract, or of the later version that first has the choice. */
  function exercisedId(choice: Pick<AnyChoice, 'template'>, contract: Contract): TemplateId {
    return templateOf(contract).since >= choice.template.since
      ? contract.templateId
      : templateIdOf(choice.template)
  }

  return {
    templates,
    packages,
    choicesOf,
    templateIdOf,
    findTemplate,
    findChoice,
    templateOf,
    payloadOf,
    inForce,
    exercisedId,
  }
}

export const REGISTRY: Registry = createRegistry(TEMPLATES, CHOICES)

export const {
  templates,
  packages,
  choicesOf,
  templateIdOf,
  findTemplate,
  findChoice,
  templateOf,
  payloadOf,
} = REGISTRY
