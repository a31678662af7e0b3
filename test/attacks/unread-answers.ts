/** Clients ask for the largest answers and do not read them; others open all sockets of the control plane. */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createHttpClient, send } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { createUser } from '../support/client.ts'
import { tapOften } from '../support/network.ts'
import type { Attack } from './attack.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { first, open } from './wire.ts'

/** Of the answer: with their blobs some 4 kB for each tap. */
const SUBMISSIONS = 30
const TAPS = 100
const ANSWERS = 38
/** 64 MiB of one client, the answer that is made, and garbage. Without a bound it grew by 728 MB. */
const GROWN_BYTES_MAX = 350 * MIB
const WAIT_MS = 10_000
/** Of one address; from here more are accepted in place of earlier ones. */
const SOCKETS = 600
const ADDRESSES = 17

const clock = createSystemClock()

export const unreadAnswers: Attack = {
  name: 'unread-answers',
  needsOwnCluster: true,
  claim:
    'A user asks for 38 answers of several megabytes each and reads none; clients of 17 addresses open 600 connections each to the ' +
    'control plane, and send nothing. The validator grows by at most 350 MiB, and both serve others meanwhile.',
  async run({ cluster }) {
    const sockets: Socket[] = []
    try {
      const answers = await holdAnswers(cluster, sockets)
      const control = await holdControl(cluster, sockets)
      return {
        holds: answers.holds && control.holds,
        figures: { ...answers.figures, ...control.figures },
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

async function holdAnswers(cluster: RunningCluster, sockets: Socket[]) {
  const url = cluster.urls.validator
  const user = await createUser(cluster, 'hoarder', null)
  await tapOften(cluster, user, { submissions: SUBMISSIONS, taps: TAPS })
  const client = createHttpClient(url, user.token)
  const endInclusive = (await client.get('/v2/state/ledger-end')).body.offset
  const blobs = { WildcardFilter: { value: { includeCreatedEventBlob: true } } }
  const filtersByParty = { [user.party]: { cumulative: [{ identifierFilter: blobs }] } }
  const includeTransactions = {
    eventFormat: { filtersByParty, verbose: true },
    transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
  }
  const updates = { beginExclusive: 0, endInclusive, updateFormat: { includeTransactions } }
  const body = JSON.stringify(updates)
  const path = '/v2/updates'
  const { status, text: answer } = await client.post(path, updates)
  if (status !== 200) throw new Error(`the updates were refused: ${answer}`)
  const request = [
    `POST ${path} HTTP/1.1`,
    'host: a',
    `authorization: Bearer ${user.token}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
  let begunCount = 0
  let servedCount = 0
  const hold = async () => {
    const begun = Array.from({ length: ANSWERS }, async () => {
      const socket = open(url)
      sockets.push(socket)
      socket.write(request)
      const text = await first(socket, 'data')
      socket.pause()
      if (text.startsWith('HTTP/1.1 200')) begunCount++
    })
    await Promise.all(begun)
    for (let count = 0; count < 10; count++) {
      await clock.delay(WAIT_MS / 10)
      if ((await send(`${url}/v0/scan-proxy/ans-entries/by-name/sv-1.sv.ns`)).status === 200)
        servedCount++
    }
  }
  const { residentBytes } = await spentOn(url, hold)
  return {
    holds: residentBytes <= GROWN_BYTES_MAX && servedCount === 10 && begunCount > 0,
    figures: {
      'bytes of an answer': answer.length,
      'answers begun': `${begunCount} of ${ANSWERS}`,
      'resident memory of the validator, MiB': `+ ${inMib(residentBytes)} (at most ${inMib(GROWN_BYTES_MAX)})`,
      'lookups of others': `${servedCount} of 10`,
    },
  }
}

async function holdControl(cluster: RunningCluster, sockets: Socket[]) {
  const { content } = JSON.parse(readFileSync(join(cluster.dataDir, 'control.json'), 'utf8'))
  const url = String(content.url)
  for (let index = 0; index < ADDRESSES; index++) {
    const opened = Array.from({ length: SOCKETS }, () => open(url, `127.0.1.${index + 1}`))
    sockets.push(...opened)
    await Promise.all(opened.map((socket) => first(socket, 'connect')))
  }
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => (await send(url)).status),
  )
  const servedCount = statuses.filter((status) => status === 200).length
  return {
    holds: servedCount === 10,
    figures: {
      'connections to the control plane': ADDRESSES * SOCKETS,
      'pages for others meanwhile': `${servedCount} of 10`,
    },
  }
}
