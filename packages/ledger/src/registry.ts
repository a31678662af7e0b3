/** Every template with its choices, and the ids that follow from their definitions (D-31). */
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
import { type Choice, type PackageName, type Template, templateRef } from './template.ts'
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
export const templates: readonly AnyTemplate[] = [
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

/** Every choice, by the entity of its template. */
const choicesByEntity: ReadonlyMap<string, readonly AnyChoice[]> = (() => {
  const all = [
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
  return new Map(
    templates.map((template) => [
      template.entity,
      all
        .filter((choice) => choice.template === template)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ]),
  )
})()

export function choicesOf(template: AnyTemplate): readonly AnyChoice[] {
  return choicesByEntity.get(template.entity) ?? []
}

function definitionOf(template: AnyTemplate): Json {
  return {
    module: template.module,
    entity: template.entity,
    type: template.type.descriptor,
    choices: choicesOf(template).map((choice) => ({
      name: choice.name,
      consuming: choice.consuming,
      argument: choice.argument.descriptor,
      result: choice.result.descriptor,
    })),
  }
}

/** One interface, without choices: a view of `Coin` and `LockedCoin` (D-31). */
export const HOLDING_INTERFACE = '#quorumscan-coin:Coin.Holding:Holding'

export type PackageInfo = { readonly name: PackageName; readonly id: string }

export const packages: readonly PackageInfo[] = (
  ['quorumscan-name-service', 'quorumscan-wallet', 'quorumscan-coin', 'quorumscan-dso'] as const
).map((name) => {
  const definition = templates.filter(({ packageName }) => packageName === name).map(definitionOf)
  return { name, id: toHex(sha256(utf8(canonicalJson({ name, definition })))) }
})

const idByTemplate: ReadonlyMap<AnyTemplate, TemplateId> = new Map(
  templates.map((template) => {
    const found = packages.find(({ name }) => name === template.packageName)
    assert(found !== undefined, `${template.packageName} is a package`)
    return [template, `${found.id}:${template.module}:${template.entity}`]
  }),
)

const templateByRef: ReadonlyMap<string, AnyTemplate> = new Map(
  templates.flatMap((template) => [
    [templateRef(template), template],
    [templateIdOf(template), template],
  ]),
)

/** `<package id>:<Module>:<Entity>`. */
export function templateIdOf<P>(template: Template<P>): TemplateId {
  const id = idByTemplate.get(template)
  assert(id !== undefined, `${template.entity} is registered`)
  return id
}

/** By package id, or by `#` and package name; undefined if it does not exist. */
export function findTemplate(ref: string): AnyTemplate | undefined {
  return templateByRef.get(ref)
}

export function findChoice(template: AnyTemplate, name: string): AnyChoice | undefined {
  return choicesOf(template).find((choice) => choice.name === name)
}

export function templateOf({ templateId }: Pick<Contract, 'templateId'>): AnyTemplate {
  const template = templateByRef.get(templateId)
  assert(template !== undefined, `${templateId} is a template`)
  return template
}
