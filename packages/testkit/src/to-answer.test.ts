import { expect, it } from 'vitest'

const REFUSED = { error: 'No ans entry found for name: a', code: 'ENTRY_NOT_FOUND' }
const asResponse = (status: number, body: unknown) => new Response(JSON.stringify(body), { status })
const asBytes = (status: number, body: unknown) => ({
  status,
  body: new TextEncoder().encode(JSON.stringify(body)),
})

it('checks the status, and the code if one is given', async () => {
  for (const answer of [{ status: 404, body: REFUSED }, asBytes(404, REFUSED)]) {
    expect(answer).toAnswer(404)
    expect(answer).toAnswer(404, 'ENTRY_NOT_FOUND')
    expect(answer).not.toAnswer(200)
    expect(answer).not.toAnswer(404, 'CONTRACT_NOT_FOUND')
  }
  expect({ status: 404, code: 'ENTRY_NOT_FOUND' }).toAnswer(404, 'ENTRY_NOT_FOUND')
  const response = asResponse(404, REFUSED)
  await expect(response).toAnswer(404, 'ENTRY_NOT_FOUND')
  await expect(response).not.toAnswer(200)
  expect(await response.json()).toEqual(REFUSED)
})

it('shows status, code and body of an unexpected answer', async () => {
  const message =
    'expected the answer 200, received 404 ENTRY_NOT_FOUND: {\n "error": "No ans entry found for name: a",\n "code": "ENTRY_NOT_FOUND"\n}'
  expect(() => expect({ status: 404, body: REFUSED }).toAnswer(200)).toThrow(message)
  expect(() => expect(asBytes(404, REFUSED)).toAnswer(200)).toThrow(message)
  await expect(async () => expect(asResponse(404, REFUSED)).toAnswer(200)).rejects.toThrow(message)
  expect(() => expect({ status: 502, body: '<html>' }).toAnswer(404, 'A')).toThrow(
    'expected the answer 404 A, received 502: <html>',
  )
  expect(() => expect({ status: 204, body: undefined }).toAnswer(200)).toThrow(/204$/)
  expect(() => expect({ status: 500, body: 'x'.repeat(3000) }).toAnswer(200)).toThrow(/x{2000}…$/)
})

it('fails for a value that is not an answer', () => {
  for (const nothing of [undefined, null, 'text', {}])
    expect(() => expect(nothing).toAnswer(200)).toThrow('expected an answer with status 200')
})
