/** What the tests use of `unchanged-clients.mjs`. Paths and bodies are the clients' own affair. */
type Send = (path: string, body?: object, params?: object) => Promise<Record<string, never>>

export class LedgerClient {
  constructor(options: {
    baseUrl: URL
    logger: object
    accessTokenProvider: { getAccessToken(): Promise<string> }
  })
  init(): Promise<void>
  getCurrentClientVersion(): string
  get: Send
  post: Send
  checkIfPartyExists(party: string): Promise<boolean>
  createUser(userId: string, primaryParty: string): Promise<object>
  waitForPartyAndGrantUserRights(userId: string, party: string): Promise<void>
  grantMasterUserRights(userId: string, canRead: boolean, canExecute: boolean): Promise<void>
}

export function awaitCompletion(
  client: LedgerClient,
  ledgerEnd: number,
  party: string,
  userId: string,
  commandOrSubmissionId: string,
): Promise<object>

export function isJsCantonError(error: unknown): boolean
