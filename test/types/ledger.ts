/** Code of wallet developers for streams and commands, compiled with every supported compiler. */
import {
  type Checkpoint,
  type CommandOutcome,
  createMemoryStore,
  createValidator,
} from '@quorumscan/sdk'

const checkpoint: Checkpoint = { store: createMemoryStore(), key: 'updates' }
// Callers can pass the WebSocket of the platform, which may be undefined.
const validator = createValidator({
  url: 'https://validator.example.com',
  WebSocket: globalThis.WebSocket,
})
createValidator({ url: 'https://validator.example.com', WebSocket: null })

export async function follow(party: string, signal: AbortSignal): Promise<string> {
  for await (const update of validator.updates({ parties: [party], checkpoint, signal })) {
    const offset: number = update.offset
    if (update.kind === 'transaction') {
      const commandId: string = update.commandId
      return `${offset} ${commandId} ${update.events.length}`
    }
    const kind: 'topology' = update.kind
    // @ts-expect-error Only a transaction has a command id.
    update.commandId.length
    return kind
  }
  return 'nothing'
}

export async function submit(party: string): Promise<string> {
  const outcome: CommandOutcome = await validator.commands.submit({
    commandId: 'kept where a crash does not lose it',
    actAs: [party],
    commands: [{ CreateCommand: { templateId: '#p:M:E', createArguments: { owner: party } } }],
  })
  switch (outcome.kind) {
    case 'committed':
      return `${outcome.offset} ${outcome.updateId} ${outcome.wasDuplicate}`
    case 'rejected':
      return outcome.error.code
    case 'unknown':
      return outcome.commandId
    default: {
      // Every outcome has a case.
      const nothing: never = outcome
      return nothing
    }
  }
}

// @ts-expect-error The parties are required.
validator.updates()
// @ts-expect-error A submission needs `actAs`.
void validator.commands.submit({ commands: [] })
