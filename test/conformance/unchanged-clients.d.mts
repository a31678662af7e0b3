/** Types of the parts of `unchanged-clients.mjs` that tests use. Paths and bodies are not typed. */
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

type Json = Record<string, never>
type ByTemplate = { templateIds: string[] } | { interfaceIds: string[] }

export class SDK {
  private constructor()
  static create(options: {
    auth: object
    ledgerClientUrl: string
    logAdapter: { log(): void }
    events: { auth: object; websocketURL: string }
  }): Promise<{
    ledger: {
      ledgerEnd(): Promise<number>
      internal: { submit(request: object): Promise<{ updateId: string; completionOffset: number }> }
      acs: { read(options: object): Promise<Json[]> }
    }
    party: {
      list(): Promise<string[]>
      internal: { allocate(options: { partyHint: string }): Promise<string> }
    }
    user: {
      create(options: { userId: string; primaryParty: string; userRights: object }): Promise<Json>
      list(): Promise<{ users: Json[] }>
      rights: {
        grant(options: { userId: string; userRights: object }): Promise<void>
        revoke(options: { userId: string; userRights: object }): Promise<void>
        list(): Promise<{ rights: Json[] }>
      }
    }
    events: {
      updates(options: { beginOffset: number; partyId: string } & ByTemplate): AsyncIterable<Json>
      completions(options: { beginOffset: number; parties: string[] }): AsyncIterable<Json>
    }
  }>
}
