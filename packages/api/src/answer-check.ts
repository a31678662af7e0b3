/** Checks the form of answers of scan nodes (D-35), for readers that trust no single node. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { scanRoutes } from './routes/scan.ts'

/** Compiled at first use: most processes check few operations. */
const checks = new Map<string, Validator>()

/** Whether the body matches the schema of a 200 of this scan operation. Unknown members pass. */
export function isScanAnswer(operationId: keyof typeof scanRoutes, body: unknown): boolean {
  const schema: TSchema | null = scanRoutes[operationId].response
  if (schema === null) return false // Its answer has no body.
  let check = checks.get(operationId)
  if (check === undefined) {
    check = Compile(schema)
    checks.set(operationId, check)
  }
  return check.Check(body)
}
