/**
 * Each list that has pages, walked with pages of random sizes while others write, against a plain model: what is there
 * from the first page to the last is shown once, nothing is shown twice, and nothing that never was.
 */
import { send } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import { describe } from 'vitest'
import { clock, unwrap } from '../../support/client.ts'
import type { World } from '../../support/routes/world.ts'
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts'
import { it } from '../network.ts'

/** The plain model of a list: what exists, in the order in which it was made. */
class Model {
  readonly #now = new Set<string>()
  #always = new Set<string>()
  #ever = new Set<string>()

  add(id: string): void {
    this.#now.add(id)
    this.#ever.add(id)
  }

  remove(id: string): void {
    this.#now.delete(id)
    this.#always.delete(id)
  }

  /** A walk begins. */
  begin(): void {
    this.#always = new Set(this.#now)
    this.#ever = new Set(this.#now)
  }

  /** What the walk must show, and what it may show. */
  expected() {
    return { always: [...this.#always], ever: this.#ever }
  }

  get now(): readonly string[] {
    return [...this.#now]
  }
}

type Page = { readonly ids: readonly string[]; readonly rows: number; readonly next: string | null }

type List = {
  readonly model: Model
  readonly read: (size: number, token: string | null) => Promise<Page>
  /** Changes what the list shows, and the model. */
  readonly write: () => Promise<void>
  /** The order of the list, of what is in the model. Absent: none that a client may rely on. */
  readonly order?: (ids: readonly string[]) => readonly string[]
  /** The page without a size has all. */
  readonly isWhole?: true
  /** Rows of others are in it, too. Default: 5. */
  readonly sizeMax?: number
}

/** Elements before a walk. */
const COUNT = 9
const HOUR_MICROS = 3_600_000_000
/** Pages after which a walk would not end. */
const PAGES_MAX = 500

async function walk(list: List, random: SeededRandom) {
  const { model, read, write, sizeMax = 5 } = list
  model.begin()
  const shown: string[] = []
  const problems: string[] = []
  let token: string | null = null
  for (let page = 0; ; page++) {
    if (page === PAGES_MAX) throw new Error(`a walk has more than ${PAGES_MAX} pages`)
    const size = random.integer(1, sizeMax)
    const { ids, rows, next } = await read(size, token)
    if (rows > size && list.isWhole !== true) problems.push(`${rows} rows of ${size}`)
    shown.push(...ids)
    token = next
    if (next === null) return { shown, problems }
    if (page < 3) await write()
  }
}

type Fields = Readonly<Record<string, unknown>>

/** How an operation shows its pages. */
type Shape = {
  readonly rows: (body: Fields) => readonly unknown[]
  /** Null: the row belongs to another test. */
  readonly id: (row: unknown) => string | null
  readonly size: string
  readonly token: string
  readonly next: (
    body: Fields,
    page: { readonly rows: readonly unknown[]; readonly size: number },
  ) => unknown
}

const member = (row: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => memberOf(value, name), row)
const text = (path: string) => (row: unknown) => String(member(row, path))
const listOf =
  (...names: readonly string[]): Shape['rows'] =>
  (body) =>
    names.flatMap((name) => (Array.isArray(body[name]) ? body[name] : []))

/** Pages of `/v0`. */
const tokens = {
  size: 'page_size',
  token: 'page_token',
  next: (body: Fields) => body['next_page_token'],
}
/** Pages of `/v2`. */
const ledgerTokens = { token: 'pageToken', next: (body: Fields) => body['nextPageToken'] }
/** History, whose last row names the next page. */
const afterLast = {
  size: 'page_size',
  token: 'begin_after_id',
  next: (
    _: Fields,
    { rows, size }: { readonly rows: readonly unknown[]; readonly size: number },
  ) => (rows.length < size ? null : member(rows.at(-1), 'event_id')),
}

type Reading = {
  readonly url: string
  readonly token?: string
  readonly fixed?: Fields
}

/** Reads pages of an operation. */
function reader(place: string, shape: Shape, { url, token, fixed = {} }: Reading): List['read'] {
  const [method = '', path = ''] = place.split(' ')
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  return async (size, pageToken) => {
    const fields = {
      ...fixed,
      [shape.size]: size,
      ...(pageToken !== null && { [shape.token]: pageToken }),
    }
    const query = new URLSearchParams(
      Object.entries(fields).map(([name, value]) => [name, String(value)]),
    )
    const answer =
      method === 'GET'
        ? await send(`${url}${path}?${query}`, { headers })
        : await send(`${url}${path}`, { method, headers, body: fields })
    if (answer.status !== 200) throw new Error(`${place} answered ${answer.status}: ${answer.text}`)
    const rows = shape.rows(answer.body)
    const next = shape.next(answer.body, { rows, size })
    return {
      ids: rows.map(shape.id).filter((id) => id !== null),
      rows: rows.length,
      next: typeof next === 'string' && next !== '' ? next : null,
    }
  }
}

const reversed = (ids: readonly string[]) => [...ids].reverse()
const byBytes = (ids: readonly string[]) => [...ids].sort()

/** Names of a new user, with a prefix of their own. */
async function namesOf(world: World): Promise<Readonly<Record<string, List>>> {
  const user = await world.newUser('100000.0')
  const prefix = world.fresh('paged')
  const [names, subscriptions] = [new Model(), new Model()]
  let count = 0
  const write = async () => {
    const name = `${prefix}-${String(count++).padStart(3, '0')}.unverified.ns`
    const request = await user.request(name)
    await user.accept(request)
    await world.untilKnown(name)
    names.add(name)
    subscriptions.add(request)
  }
  await Promise.all(Array.from({ length: COUNT }, write))
  const { scan, validator } = world.urls
  const { token } = user
  const entries = { ...tokens, rows: listOf('entries'), id: text('name') }
  const shared = { model: names, write }
  const ofPrefix = { name_prefix: prefix }
  const ofParty = `/ans-entries/by-party/${encodeURIComponent(user.party)}/all`
  const list = (place: string, reading: Reading): List => ({
    ...shared,
    read: reader(place, entries, reading),
  })
  return {
    'names of a node': {
      ...list('GET /v0/ans-entries', { url: scan, fixed: ofPrefix }),
      order: byBytes,
    },
    'names of the proxy': {
      ...list('GET /v0/scan-proxy/ans-entries', { url: validator, fixed: ofPrefix }),
      order: byBytes,
    },
    'names of a party': list(`GET /v0${ofParty}`, { url: scan }),
    'names of a party, of the proxy': list(`GET /v0/scan-proxy${ofParty}`, { url: validator }),
    'names of a user': list('GET /v0/entry/all', { url: validator, token }),
    subscriptions: {
      ...shared,
      model: subscriptions,
      read: reader(
        'GET /v0/wallet/subscriptions',
        { ...tokens, rows: listOf('subscriptions'), id: text('subscription.payload.reference') },
        { url: validator, token },
      ),
    },
  }
}

/** Coins of a new user, each with an amount of its own: the history of a party. */
async function coinsOf(world: World): Promise<Readonly<Record<string, List>>> {
  const user = await world.newUser(null)
  const { token, party } = user
  const { scan, validator } = world.urls
  const headers = { authorization: `Bearer ${token}` }
  const [amounts, offsets, updates] = [new Model(), new Model(), new Model()]
  let count = 0
  const write = async () => {
    // In no order of size.
    const amount = `${((count++ * 7) % 1000) + 1}.0000000000`
    const body = {
      commands: [
        {
          ExerciseCommand: {
            templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
            contractId: world.coinRules.contract_id,
            choice: 'CoinRules_DevNet_Tap',
            choiceArgument: { receiver: party, amount },
          },
        },
      ],
      commandId: world.fresh(),
      actAs: [party],
      disclosedContracts: [{ createdEventBlob: world.coinRules.created_event_blob }],
    }
    const path = '/v2/commands/submit-and-wait'
    const answer = await send(`${validator}${path}`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(`a tap was answered ${answer.text}`)
    amounts.add(amount)
    offsets.add(String(answer.body.completionOffset).padStart(16, '0'))
    updates.add(answer.body.updateId)
  }
  for (let index = 0; index < COUNT; index++) await write()
  const isOwn = (row: unknown) => JSON.stringify(row).includes(party)
  const offsetOf = (row: unknown) => (isOwn(row) ? text('event_id')(row).slice(0, 16) : null)
  const activities = { ...afterLast, rows: listOf('activities'), id: offsetOf }
  const history = (place: string, url: string, sort_order: string): List => ({
    model: offsets,
    write,
    read: reader(place, activities, { url, fixed: { sort_order } }),
    // Rows of all parties are in it.
    sizeMax: 100,
    order: sort_order === 'asc' ? (ids) => ids : reversed,
  })
  const coins = { ...tokens, rows: listOf('coins', 'locked_coins'), id: text('effective_amount') }
  const wallet = (order: string): List => ({
    model: amounts,
    write,
    read: reader('GET /v0/wallet/coins', coins, { url: validator, token, fixed: { order } }),
    order: order === 'newest' ? reversed : (ids) => [...ids].sort((a, b) => Number(b) - Number(a)),
  })
  const eventFormat = { filtersByParty: { [party]: {} }, verbose: false }
  const updatesPage = {
    ...ledgerTokens,
    size: 'maxPageSize',
    rows: listOf('updates'),
    id: text('update.Transaction.value.updateId'),
    // In ascending order a walk does not end: it continues with updates to come.
    next: (body: Fields, { rows }: { readonly rows: readonly unknown[] }) =>
      rows.length === 0 ? null : body['nextPageToken'],
  }
  const updateFormat = {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
  }
  const pagesOfUpdates = (more: Fields, order: List['order']): List => ({
    model: updates,
    write,
    read: reader('POST /v2/updates/get-updates-page', updatesPage, {
      url: validator,
      token,
      fixed: { updateFormat, ...more },
    }),
    ...(order && { order }),
  })
  const contracts = {
    ...ledgerTokens,
    size: 'maxPageSize',
    rows: listOf('activeContracts'),
    id: text('contractEntry.JsActiveContract.createdEvent.createArgument.amount.initialAmount'),
  }
  return {
    'coins, the newest first': wallet('newest'),
    'coins, the largest first': wallet('amount'),
    'transactions of a user': {
      model: offsets,
      write,
      read: reader(
        'POST /v0/wallet/transactions',
        { ...afterLast, rows: listOf('items'), id: offsetOf },
        { url: validator, token },
      ),
      order: reversed,
    },
    'activities of a node': history('POST /v0/activities', scan, 'asc'),
    'activities of a node, the newest first': history('POST /v0/activities', scan, 'desc'),
    'activities of the proxy': history('POST /v0/scan-proxy/activities', validator, 'asc'),
    'activities of the proxy, the newest first': history(
      'POST /v0/scan-proxy/activities',
      validator,
      'desc',
    ),
    'updates of a party': pagesOfUpdates({}, (ids) => ids),
    'updates of a party, the newest first': pagesOfUpdates({ descendingOrder: true }, reversed),
    'active contracts': {
      model: amounts,
      write,
      read: reader('POST /v2/state/active-contracts-page', contracts, {
        url: validator,
        token,
        fixed: { eventFormat },
      }),
    },
  }
}

/** Offers of a new user: each write makes one and takes one back. */
async function offersOf(world: World): Promise<Readonly<Record<string, List>>> {
  const [sender, receiver] = [await world.newUser('1000.0'), await world.newUser(null)]
  const offers = new Model()
  const amounts = new Map<string, number>()
  let count = 0
  const offer = async () => {
    const amount = ((count++ * 7) % 100) + 1
    const answer = await sender.client.POST('/v0/wallet/token-standard/transfers', {
      body: {
        receiver_party_id: receiver.party,
        amount: String(amount),
        description: '',
        expires_at: clock.nowMicros() + HOUR_MICROS,
        tracking_id: world.fresh(),
      },
    })
    const { output } = unwrap(answer)
    if (!('transfer_instruction_cid' in output)) throw new Error('the transfer is not pending')
    offers.add(output.transfer_instruction_cid)
    amounts.set(output.transfer_instruction_cid, amount)
  }
  const write = async () => {
    await offer()
    const [oldest = ''] = offers.now
    offers.remove(oldest)
    const path = '/v0/wallet/token-standard/transfers/{contract_id}/withdraw'
    unwrap(await sender.client.POST(path, { params: { path: { contract_id: oldest } } }))
  }
  for (let index = 0; index < COUNT + 3; index++) await offer()
  const shape = { ...tokens, rows: listOf('transfers'), id: text('contract_id') }
  const list = (token: string, fixed: Fields, order: List['order']): List => ({
    model: offers,
    write,
    read: reader('GET /v0/wallet/token-standard/transfers', shape, {
      url: world.urls.validator,
      token,
      fixed,
    }),
    ...(order && { order }),
  })
  const largest = (ids: readonly string[]) =>
    [...ids].sort((a, b) => (amounts.get(b) ?? 0) - (amounts.get(a) ?? 0))
  return {
    'offers of a sender, the newest first': list(sender.token, {}, reversed),
    'offers to a receiver, the newest first': list(receiver.token, {}, reversed),
    'offers, the largest first': list(receiver.token, { order: 'amount' }, largest),
    'offers of one sender, all in a page': {
      ...list(receiver.token, { sender: sender.party }, undefined),
      isWhole: true,
    },
  }
}

/** Users and parties of the participant, of whom others make some as well. */
async function usersOf(world: World): Promise<Readonly<Record<string, List>>> {
  const prefix = world.fresh('paged')
  const [users, parties] = [new Model(), new Model()]
  const url = world.urls.validator
  const headers = { authorization: `Bearer ${world.admin}` }
  const request = async (method: string, path: string, body?: object) => {
    const answer = await send(`${url}${path}`, { method, headers, ...(body && { body }) })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  let count = 0
  const newId = () => `${prefix}-${count++}`
  const addUser = async () => {
    const id = newId()
    await request('POST', '/v2/users', { user: { id, primaryParty: '' }, rights: [] })
    users.add(id)
  }
  const writeUser = async () => {
    await addUser()
    const [oldest = ''] = users.now
    users.remove(oldest)
    await request('DELETE', `/v2/users/${oldest}`)
  }
  const writeParty = async () => {
    const { partyDetails } = await request('POST', '/v2/parties', { partyIdHint: newId() })
    parties.add(partyDetails.party)
  }
  for (let index = 0; index < COUNT + 3; index++) await addUser()
  for (let index = 0; index < COUNT; index++) await writeParty()
  const own = (path: string) => (row: unknown) => {
    const id = text(path)(row)
    return id.startsWith(prefix) ? id : null
  }
  const shape = (rows: string, path: string): Shape => ({
    ...ledgerTokens,
    size: 'pageSize',
    rows: listOf(rows),
    id: own(path),
  })
  const reading = { url, token: world.admin }
  return {
    users: {
      model: users,
      write: writeUser,
      read: reader('GET /v2/users', shape('users', 'id'), reading),
      sizeMax: 20,
    },
    parties: {
      model: parties,
      write: writeParty,
      read: reader('GET /v2/parties', shape('partyDetails', 'party'), reading),
      sizeMax: 20,
    },
  }
}

/** What a walk showed that it must not, or did not show that it must. */
function problemsOf({ model, order }: List, shown: readonly string[]): readonly string[] {
  const { always, ever } = model.expected()
  const twice = shown.filter((id, index) => shown.indexOf(id) !== index)
  const kept = shown.filter((id) => always.includes(id))
  const inOrder = order === undefined ? kept : order(always)
  return [
    ...always.filter((id) => !shown.includes(id)).map((id) => `${id} is missing`),
    ...shown.filter((id) => !ever.has(id)).map((id) => `${id} never existed`),
    ...twice.map((id) => `${id} is shown twice`),
    ...(kept.join() === inOrder.join() ? [] : [`the order is ${kept}, not ${inOrder}`]),
  ]
}

export function describePaging(): void {
  describe.each([
    ['names', namesOf],
    ['coins', coinsOf],
    ['offers', offersOf],
    ['users', usersOf],
  ] as const)('of %s', (what, listsOf) => {
    it('shows all that is there from the first page to the last, once, while others write', async ({
      expect,
      world,
    }) => {
      const lists = await listsOf(world)
      for (const [seed, [name, list]] of Object.entries(lists).entries()) {
        const { shown, problems } = await walk(list, createSeededRandom(seed + 1))
        expect.soft({ what, name, problems: [...problems, ...problemsOf(list, shown)] }).toEqual({
          what,
          name,
          problems: [],
        })
      }
    })
  })
}
