/** Checks the form of answers of scan nodes (D-35), for readers that trust no single node. */
import { scanRoutes } from './routes/scan.ts'
import { validatorOf } from './validator-of.ts'

/** Whether the body matches the schema of a 200 of this scan operation. Unknown members pass. */
export function isScanAnswer(operationId: keyof typeof scanRoutes, body: unknown): boolean {
  const { response } = scanRoutes[operationId]
  // Null: its answer has no body.
  return response !== null && validatorOf(response).Check(body)
}
