/** Users whose rights an administrator takes away, and who hold tokens, open streams and work that waits. */
import { once } from 'node:events'
import { createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import { createHttpClient, type HttpClient, untilTrue } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { WebSocket } from 'undici'
import { createUser } from '../support/client.ts'
import { ruleIds } from '../support/network.ts'
import type { Attack } from './attack.ts'

/** As many as may wait for one party. */
const PAYMENTS = 60
const PAID_FIRST = 3
/** The one that was submitted before its user lost the right. */
const PAID_LATER_MAX = 1
/** Later than the taking, also on a busy machine. */
const DELAY_SECONDS = 15
const DELAYED_AMOUNT = '7.7712345678'
const DAY_MICROS = 86_400_000_000
const TRANSFERS = '/v0/wallet/token-standard/transfers'

const clock = createSystemClock()

type User = Awaited<ReturnType<typeof createUser>> & { readonly id: string }
type Taking = (admin: HttpClient, user: User) => Promise<unknown>

const right = (kind: string, value: object = {}) => ({ kind: { [kind]: { value } } })
const patch = (admin: HttpClient, id: string, change: object, path: string) =>
  admin.patch(`/v2/users/${id}`, { user: { id, ...change }, updateMask: { paths: [path] } })
const revoke: Taking = (admin, { id, party }) =>
  admin.patch(`/v2/users/${id}/rights`, { userId: id, rights: [right('CanActAs', { party })] })

const TAKINGS: Readonly<Record<string, Taking>> = {
  deleted: (admin, { id }) => admin.delete(`/v2/users/${id}`),
  deactivated: (admin, { id }) => patch(admin, id, { isDeactivated: true }, 'is_deactivated'),
  'without the right': revoke,
  async 'without a party'(admin, user) {
    await patch(admin, user.id, { primaryParty: '' }, 'primary_party')
    await revoke(admin, user)
  },
}

export const takenRights: Attack = {
  name: 'taken-rights',
  part: 'attacks-sources',
  claim:
    'A user has a token, streams of which one has not begun, a delayed command, and payments that wait, when an ' +
    'administrator deletes or deactivates it, or takes its right or its party. Its token gets back neither, its streams end ' +
    'and show nothing more, the command has no effect, and of the payments at most the one that was submitted before.',
  async run({ cluster }) {
    const admin = createHttpClient(cluster.urls.validator, await cluster.token())
    const rights = '/v2/users/participant_admin/rights'
    const all = { userId: 'participant_admin', rights: [right('CanReadAsAnyParty')] }
    await admin.post(rights, all)
    const { coinRules } = await ruleIds(cluster)
    try {
      const figures: Record<string, string> = {}
      let holds = true
      // One after the other: a server admits so much work of one client.
      for (const [name, take] of Object.entries(TAKINGS)) {
        const result = await attack(cluster, { admin, take, coinRules })
        holds &&= result.holds
        figures[name] = result.figures
      }
      return { holds, figures }
    } finally {
      await admin.patch(rights, all)
    }
  },
}

type CoinRules = Awaited<ReturnType<typeof ruleIds>>['coinRules']

async function attack(
  cluster: RunningCluster,
  {
    admin,
    take,
    coinRules,
  }: { readonly admin: HttpClient; readonly take: Taking; readonly coinRules: CoinRules },
) {
  const newUser = async (): Promise<User> => {
    const id = `mallory-${randomHex(systemRandom, 4)}`
    return { id, ...(await createUser(cluster, id, '1000.0')) }
  }
  const [user, other, receiver] = await Promise.all([newUser(), newUser(), newUser()])
  const client = createHttpClient(cluster.urls.validator, user.token)
  const receiving = createHttpClient(cluster.urls.validator, receiver.token)
  const offerCount = async (): Promise<number> =>
    (await receiving.get(`${TRANSFERS}?sender=${user.party}`)).body.transfers.length
  using begun = await openStream(cluster, user)
  using late = await openStream(cluster, user)
  begun.begin()
  await untilTrue('an update', () => begun.updateCount() > 0)

  for (const one of [user, other]) await delayTap(cluster, one, coinRules)
  const answers: number[] = []
  const payments = Array.from({ length: PAYMENTS }, async (_, index) => {
    const { status } = await client.post(TRANSFERS, {
      receiver_party_id: receiver.party,
      amount: '1.0',
      description: '',
      tracking_id: `${user.id}-${index}`,
      expires_at: Math.round(clock.nowMicros()) + DAY_MICROS,
    })
    answers.push(status)
  })
  const paidCount = () => answers.filter((status) => status === 200).length
  await untilTrue('the first payments', () => paidCount() >= PAID_FIRST)
  await take(admin, user)
  const offersThen = await offerCount()
  late.begin()
  await Promise.all([...payments, begun.ended, late.ended])

  // It may answer with the party that the user had, which is of no use without the right.
  await client.post('/v0/register', {})
  const isTapping = (await client.post('/v0/wallet/tap', { amount: '1.0' })).status === 200
  const paidLater = (await offerCount()) - offersThen
  const refused = answers.length - paidCount()
  const wasDelayed = async ({ party }: User) =>
    (await coinsOf(admin, party)).includes(DELAYED_AMOUNT)
  await untilTrue('the delayed command of another user', () => wasDelayed(other))
  const isDelayed = await wasDelayed(user)
  const { text: rights } = await admin.get(`/v2/users/${user.id}/rights`)
  // The record of a deactivated user stays as it is.
  const isBack = isTapping || (take !== TAKINGS['deactivated'] && rights.includes('CanActAs'))
  const isShown = late.updateCount() > 0
  return {
    holds: !isBack && !isShown && !isDelayed && paidLater <= PAID_LATER_MAX && refused > 0,
    figures:
      `${isBack ? 'got its party back' : 'got nothing back'}, ${late.updateCount()} updates, ` +
      `${isDelayed ? 'a delayed command' : 'no delayed command'}, ${paidLater} payments afterwards, ${refused} refused`,
  }
}

/** A stream of all updates of the user. It begins with its first frame. */
async function openStream({ urls }: RunningCluster, { token, party }: User) {
  const socket = new WebSocket(`${urls.validator.replace('http', 'ws')}/v2/updates`, {
    headers: { authorization: `Bearer ${token}` },
  })
  let updateCount = 0
  socket.addEventListener('message', ({ data }) => {
    if (String(data).includes('"Transaction"')) updateCount++
  })
  const ended = once(socket, 'close')
  await once(socket, 'open')
  const eventFormat = { filtersByParty: { [party]: {} }, verbose: false }
  const includeTransactions = { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' }
  return {
    ended,
    updateCount: () => updateCount,
    begin: () =>
      socket.send(JSON.stringify({ beginExclusive: 0, updateFormat: { includeTransactions } })),
    [Symbol.dispose]: () => socket.close(),
  }
}

/** Submits a tap that takes effect later. */
async function delayTap(
  cluster: RunningCluster,
  { token, party }: User,
  coinRules: CoinRules,
): Promise<void> {
  const tap = {
    templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
    contractId: coinRules.contract_id,
    choice: 'CoinRules_DevNet_Tap',
    choiceArgument: { receiver: party, amount: DELAYED_AMOUNT },
  }
  const client = createHttpClient(cluster.urls.validator, token)
  const { status, text } = await client.post('/v2/commands/async/submit', {
    commands: [{ ExerciseCommand: tap }],
    commandId: randomHex(systemRandom, 8),
    actAs: [party],
    disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
    minLedgerTimeRel: { seconds: DELAY_SECONDS },
  })
  if (status !== 200) throw new Error(`the command was refused: ${text}`)
}

/** The contracts of the party, as text. */
async function coinsOf(admin: HttpClient, party: string): Promise<string> {
  const activeAtOffset = (await admin.get('/v2/state/ledger-end')).body.offset
  const eventFormat = { filtersByParty: { [party]: {} }, verbose: false }
  return (await admin.post('/v2/state/active-contracts', { activeAtOffset, eventFormat })).text
}
