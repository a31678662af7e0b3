import { createManualClock, serve } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import type { Check } from '../checks/check.ts'
import { createConsole } from './console.ts'
import { PAGE, SCRIPT } from './page.ts'

const TOKEN = 'a-token-of-22-letters_'
const check: Check = { name: 'log', state: 'ok', detail: 'offset 7', advice: null }
const EXPOSITION = `quorumscan_can_lose{process="sv-1",kind="lookups"} 2
quorumscan_replica_offset{process="sv-1"} 20311
`

it('shows its page to everyone, and what it shows to those with the token', async ({
  resources,
}) => {
  const clock = createManualClock()
  let token = TOKEN
  let readCount = 0
  const own = createConsole({
    name: 'sv-1',
    role: 'super-validator',
    token: () => token,
    async readChecks() {
      readCount++
      return [check]
    },
    readMetrics: async () => EXPOSITION,
    clock,
  })
  const { url } = resources.opened(
    await serve(async (incoming, response) => {
      const path = (incoming.url ?? '').split('?', 1)[0] ?? ''
      if (!(await own.answer(path, incoming, response))) response.writeHead(404).end()
    }),
  )
  const page = await fetch(`${url}/console`)
  expect(await page.text()).toBe(PAGE)
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self';/,
  )
  expect(PAGE).not.toMatch(/<script>|<style>|style=|onclick/)
  for (const [, path] of PAGE.matchAll(/(?:src|href)="(\/[^"]+)"/g))
    expect(await fetch(`${url}${path}`)).toAnswer(200)
  expect(await fetch(`${url}/console/other`)).toAnswer(404)
  expect(await fetch(`${url}/constructor`)).toAnswer(404)

  const ask = async (authorization?: string) => {
    const answer = await fetch(`${url}/console/data`, {
      headers: authorization === undefined ? {} : { authorization },
    })
    return answer.status === 200 ? await answer.json() : answer.status
  }
  for (const wrong of [undefined, '', 'Bearer ', 'Bearer x', TOKEN, `Bearer ${TOKEN}x`])
    expect(await ask(wrong)).toBe(401)
  expect(await fetch(`${url}/console/data?token=${TOKEN}`)).toAnswer(401)
  expect(readCount).toBe(0)
  const data = {
    name: 'sv-1',
    role: 'super-validator',
    at: expect.stringMatching(/^\d{4}-/),
    figures: [
      { label: 'failures tolerated, lookups', value: '2' },
      { label: 'offset', value: '20\u202f311' },
    ],
    checks: [check],
  }
  expect(await ask(`Bearer ${TOKEN}`)).toEqual(data)
  // Several pages share what was read.
  expect(await ask(`Bearer ${TOKEN}`)).toEqual(data)
  expect(readCount).toBe(1)
  await clock.advance(5_000)
  expect(await ask(`Bearer ${TOKEN}`)).toEqual(data)
  expect(readCount).toBe(2)
  token = 'another-token-of-letters'
  expect(await ask(`Bearer ${TOKEN}`)).toBe(401)
})

it('the page sends the token in no address, and writes no text of others as HTML', () => {
  expect(SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/)
  expect(SCRIPT.match(/fetch\([^)]*\)/g)).toEqual([
    expect.stringMatching(/^fetch\('\/console\/data', \{ headers/),
  ])
})
