import { expect, it } from 'vitest'
import { buildServer } from './server.ts'

it('documents are served below each mount point, to pages of any origin, and cost ten units', async () => {
  let made = 0
  const app = buildServer({
    routes: {},
    handlers: {},
    prefix: '/api/x',
    rateLimit: { unitsPerSecond: 15 },
    documents: { '/openapi.json': () => ({ openapi: '3.1.0', made: ++made }) },
  })
  const get = (url: string) => app.inject({ method: 'GET', url })
  const first = await get('/openapi.json')
  expect(first.statusCode).toBe(200)
  expect(first.headers['access-control-allow-origin']).toBe('*')
  expect(first.json()).toEqual({ openapi: '3.1.0', made: 1 })
  expect((await get('/api/x/openapi.json')).json()).toEqual({ openapi: '3.1.0', made: 1 })
  expect((await get('/openapi.json')).statusCode).toBe(429)
  await app.close()
})
