import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findChoice, findTemplate } from './registry.ts'
import { NEWEST_RULES } from './rules.ts'
import { readValueInput, ValueInputError } from './value-input.ts'

const party = `alice::1220${'a'.repeat(64)}`
const contractId = `00${'b'.repeat(64)}`

const argumentOf = (template: string, choice: string) => {
  const found = findTemplate(template, NEWEST_RULES.version)
  const type = found === undefined ? undefined : findChoice(found, choice)?.argument
  if (type === undefined) throw new Error(`${template} has no ${choice}`)
  return type
}
const tap = argumentOf('#quorumscan-coin:Coin.Rules:CoinRules', 'CoinRules_DevNet_Tap')
const transfer = argumentOf('#quorumscan-coin:Coin.Rules:CoinRules', 'CoinRules_Transfer')
const offer = argumentOf(
  '#quorumscan-coin:Coin.Rules:CoinRules',
  'CoinRules_CreateTransferInstruction',
)
const confirm = argumentOf('#quorumscan-dso:Dso:DsoRules', 'DsoRules_ConfirmAction')

const tapped = (amount: unknown) =>
  (readValueInput(tap, { receiver: party, amount }) as { amount: unknown }).amount
const offered = (executeBefore: unknown) => {
  const rest = { sender: party, receiver: party, amount: '1', inputs: [], description: '' }
  const value = readValueInput(offer, { ...rest, trackingId: '', executeBefore })
  return (value as { executeBefore: unknown }).executeBefore
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof ValueInputError) return `${error.code} ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('values of commands', () => {
  it.each([
    ['1', '1.0000000000'],
    ['+1.5', '1.5000000000'],
    ['-0.0000000001', '-0.0000000001'],
    ['007.', '7.0000000000'],
    [1.5, '1.5000000000'],
    [0.0000000001, '0.0000000001'],
    [250000, '250000.0000000000'],
    ['9999999999999999999999999999.9999999999', '9999999999999999999999999999.9999999999'],
    ['1.00000000000', '1.0000000000'],
    [`${'0'.repeat(500)}1.5${'0'.repeat(500)}`, '1.5000000000'],
    ['-0.00000000000', '0.0000000000'],
  ])('a Decimal may be written %j', (given, want) => {
    expect(tapped(given)).toBe(want)
  })

  it.each(['', 'abc', '1e3', ' 1', '.5', 1e21, 1234567890123456, null, true, {}, []])(
    'a Decimal is not %j',
    (given) => {
      expect(codeOf(() => tapped(given))).toMatch(/^INVALID_ARGUMENT amount: /)
    },
  )

  it('a Decimal has limits for its value', () => {
    for (const large of ['1.00000000001', '1'.repeat(29), `-${'9'.repeat(29)}.0`, 10n ** 28n])
      expect(codeOf(() => tapped(large))).toMatch(/^COMMAND_PREPROCESSING_FAILED amount: /)
    expect(tapped(12345678901234567890n)).toBe('12345678901234567890.0000000000')
  })

  it.each(['0', '1.'])('a text of a million zeros and %s is read in linear time', (end) => {
    expect(codeOf(() => tapped(`${'0'.repeat(1_000_000)}${end}x`))).toMatch(/^INVALID_ARGUMENT/)
  })

  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000000Z'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05.5+02:00', '2026-01-02T01:04:05.500000Z'],
    ['2025-12-31T23:30:00-01:30', '2026-01-01T01:00:00.000000Z'],
    ['1969-12-31T23:00:00-02:00', '1970-01-01T01:00:00.000000Z'],
  ])('a Time may be written %s', (given, want) => {
    expect(offered(given)).toBe(want)
  })

  it.each([
    '',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-13-02T03:04:05Z',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04Z',
    '2026-01-02T03:04:05.1000000000Z',
    '2026-01-02T03:04:05+19:00',
    5,
  ])('a Time is not %j', (given) => {
    expect(codeOf(() => offered(given))).toMatch(/^INVALID_ARGUMENT executeBefore: /)
  })

  it.each(['1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00+01:00'])(
    'the Time %s does not fit',
    (given) => {
      expect(codeOf(() => offered(given))).toMatch(/^COMMAND_PREPROCESSING_FAILED executeBefore: /)
    },
  )

  it.each([
    [{}, 'COMMAND_PREPROCESSING_FAILED missing members of CoinRules_DevNet_Tap: receiver, amount'],
    [
      { receiver: party },
      'COMMAND_PREPROCESSING_FAILED missing members of CoinRules_DevNet_Tap: amount',
    ],
    [
      { receiver: party, amount: '1', more: 1 },
      'INVALID_ARGUMENT "more" is no member of CoinRules_DevNet_Tap',
    ],
    [{ receiver: party, amount: '1', more: null }, 'accepted'],
    [
      { receiver: 'alice', amount: '1' },
      'INVALID_ARGUMENT receiver: a Party is <hint>::1220<64 hex digits>',
    ],
    [
      { receiver: 7, amount: '1' },
      'INVALID_ARGUMENT receiver: a value of type Party is a JSON string',
    ],
    [[], 'INVALID_ARGUMENT a CoinRules_DevNet_Tap is a JSON object'],
    [null, 'INVALID_ARGUMENT a CoinRules_DevNet_Tap is a JSON object'],
    ['{}', 'INVALID_ARGUMENT a CoinRules_DevNet_Tap is a JSON object'],
  ])('the record %j is read as %s', (given, want) => {
    expect(codeOf(() => readValueInput(tap, given))).toBe(want)
  })

  it('an optional member may be left out or null, and paths lead through lists', () => {
    const output = { receiver: party, amount: '1' }
    const value = {
      sender: party,
      inputs: [contractId],
      outputs: [output, { ...output, lock: null }],
    }
    expect(readValueInput(transfer, value)).toEqual({
      sender: party,
      inputs: [contractId],
      outputs: Array(2).fill({ receiver: party, amount: '1.0000000000', lock: null }),
    })
    expect(codeOf(() => readValueInput(transfer, { ...value, inputs: [contractId, '01'] }))).toBe(
      'INVALID_ARGUMENT inputs[1]: a ContractId is 00 and 64 hex digits',
    )
    const locked = { ...output, lock: { holders: [party], expiresAt: 'never' } }
    expect(codeOf(() => readValueInput(transfer, { ...value, outputs: [locked] }))).toMatch(
      /^INVALID_ARGUMENT outputs\[0\]\.lock\.expiresAt: /,
    )
  })

  it('a variant has tag and value', () => {
    const action = { tag: 'ResolveInitialPayment', value: { payment: contractId } }
    const read = (given: unknown) => readValueInput(confirm, { confirmer: party, action: given })
    expect(read(action)).toEqual({ confirmer: party, action })
    for (const bad of [
      { tag: 'ResolveInitialPayment' },
      { value: {} },
      { ...action, tag: 'X' },
      'X',
    ])
      expect(
        codeOf(() => read(bad)),
        JSON.stringify(bad),
      ).toMatch(/^INVALID_ARGUMENT action/)
  })

  it('an Int is a string, within a RelTime too', () => {
    const round = argumentOf('#quorumscan-coin:Coin.Rules:CoinRules', 'CoinRules_Mint')
    const minted = (number: unknown) =>
      readValueInput(round, { receiver: party, amount: '1', round: { number } })
    expect(minted('+007')).toMatchObject({ round: { number: '7' } })
    expect(minted(`-${'0'.repeat(30)}7`)).toMatchObject({ round: { number: '-7' } })
    expect(minted('-0')).toMatchObject({ round: { number: '0' } })
    for (const large of ['9007199254740992', '1'.repeat(20), `-${'9'.repeat(40)}`])
      expect(codeOf(() => minted(large))).toMatch(/^COMMAND_PREPROCESSING_FAILED round\.number/)
    for (const bad of [7, '', '1.0', '0x1', '1e2', '1_0'])
      expect(
        codeOf(() => minted(bad)),
        JSON.stringify(bad),
      ).toMatch(/^INVALID_ARGUMENT round\.number/)
  })

  it('any JSON is either refused or read as a value that decodes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.constantFrom(tap, transfer, offer, confirm),
        (json, type) => {
          expect(codeOf(() => readValueInput(type, json))).toMatch(/^(accepted|INVALID|COMMAND)/)
        },
      ),
    )
    const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 28n - 1n }), fc.nat(9_999_999))
    fc.assert(
      fc.property(amounts, ([whole, fraction]) => {
        const value = readValueInput(tap, { receiver: party, amount: `${whole}.${fraction}` })
        expect(tap.encode(tap.decode(value, []))).toEqual(value)
      }),
    )
  })
})
