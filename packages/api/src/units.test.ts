import { expect, it } from 'vitest'
import { apiDocuments } from './openapi.ts'

type Described = { readonly name: string; readonly description: string }

const AMOUNT = /amount|price|fee(s|Usd)?$|_qty$|rewards?_used$|coupons_used$|rewardPerRound/i
/** Not of amounts: a rate that is always zero, and wire names of the ledger interface. */
const OTHERS = new Set(['change_to_holding_fees_rate', 'transfer_instruction_amount_unit'])

/** Members of a document whose names are those of amounts. */
function amountsOf(schema: unknown): Described[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key !== 'properties') return amountsOf(value)
    const members = Object.entries(value as Readonly<Record<string, Partial<Described>>>)
    const named = members
      .filter(([name]) => AMOUNT.test(name) && !OTHERS.has(name))
      .map(([name, { description = '' }]) => ({ name, description }))
    return [...named, ...members.flatMap(([, member]) => amountsOf(member))]
  })
}

it('the description of every amount has its unit', () => {
  const { scan, validator } = JSON.parse(JSON.stringify(apiDocuments()))
  const amounts = amountsOf([scan.components.schemas, validator.components.schemas])
  expect(amounts.length).toBeGreaterThan(20)
  for (const { name, description } of amounts)
    expect(`${name}: ${description}`).toMatch(/amount of (coin|USD)/)
})
