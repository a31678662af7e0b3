/**
 * The coin of a super-validator's own party: the rewards of its rounds. The id of each job is a contract that its command
 * archives. So of two submissions one at most takes effect, whatever became of the first one (D-78).
 */
import { assert } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import {
  coin,
  createTransferInstructionCommand,
  disclose,
  expireTransferCommand,
  payloadOf,
  TRANSFER_INPUTS_MAX,
  transferCommand,
  transferInstruction,
} from '@quorumscan/ledger'
import { type Command, type ContractId, formatAmount } from '@quorumscan/model'
import { type JobDefinition, type OperatorDeps, submittingJob } from './job.ts'

/** µs for which a receiver may accept an offer of rewards. Then the coin returns. */
export const OFFER_MICROS = 7 * 24 * 3_600_000_000

type Work = {
  /** The command archives it. */
  readonly contractId: ContractId
  readonly command: (coinRules: ContractId) => Command | Promise<Command>
}

/** Submits the command of each contract for which there is work. */
function rewardJob(
  name: string,
  findWork: (deps: OperatorDeps) => Promise<readonly Work[]>,
): JobDefinition<OperatorDeps> {
  return submittingJob({
    name,
    runsOn: 'every-member',
    due: async (deps) => (await findWork(deps)).map(({ contractId }) => contractId),
    async commandFor({ contractId }, deps) {
      const work = (await findWork(deps)).find((one) => one.contractId === contractId)
      if (work === undefined) return null
      const [rules] = await deps.ledger.contractsByKey('singleton:CoinRules', { limit: 1 })
      assert(rules !== undefined, 'the ledger has CoinRules from genesis on')
      const command = await work.command(rules.contractId)
      return { party: deps.party, command, disclosed: [disclose(rules)] }
    },
  })
}

/** Coins of the super-validator: all, or one more than a transfer takes. */
async function ownCoins({ ledger, party }: OperatorDeps) {
  const limit = TRANSFER_INPUTS_MAX + 1
  const contracts = await ledger.contractsByKey(`party:Coin:${party}`, { limit })
  const total = contracts.reduce(
    (sum, contract) => sum + payloadOf(coin, contract).amount.initialAmount,
    0n,
  )
  return { ids: contracts.map(({ contractId }) => contractId), total }
}

/** Open transfer offers that it made. */
async function ownOffers({ ledger, party }: OperatorDeps) {
  const offers = await ledger.contractsByKey(`offers:${party}`)
  return offers.map((contract) => {
    const { transfer } = payloadOf(transferInstruction, contract)
    return { contractId: contract.contractId, ...transfer }
  })
}

export const rewardJobs: readonly JobDefinition<OperatorDeps>[] = [
  // Merges coins when there are more than one transfer takes. Each round adds a coin.
  rewardJob('merge-rewards', async (deps) => {
    const { ids } = await ownCoins(deps)
    const inputs = ids.slice(0, TRANSFER_INPUTS_MAX)
    const [contractId] = inputs
    if (contractId === undefined || inputs.length === ids.length) return []
    const merge = { sender: deps.party, inputs, outputs: [] }
    return [{ contractId, command: (coinRules) => transferCommand({ coinRules, ...merge }) }]
  }),
  // Offers what exceeds `keep`, out of all coins, unless an offer to the same party is open: otherwise offers that are not
  // accepted would use up the number that a party may have.
  rewardJob('send-rewards', async (deps) => {
    const { ledger, party: sender, rewards } = deps
    if (rewards === null) return []
    const { to: receiver, keep } = rewards
    const { ids: inputs, total } = await ownCoins(deps)
    const [contractId] = inputs
    if (contractId === undefined || inputs.length > TRANSFER_INPUTS_MAX || total <= keep) return []
    if ((await ownOffers(deps)).some((offer) => offer.receiver === receiver)) return []
    const command = async (coinRules: ContractId) => {
      if (!(await ledger.isPartyAllocated(receiver)))
        throw new ScanError('INVALID_ARGUMENT', 'QS_REWARDS_TO is no party of this network')
      const amount = total - keep
      return createTransferInstructionCommand({
        coinRules,
        sender,
        inputs,
        receiver,
        amount,
        executeBefore: ledger.head().recordTime + OFFER_MICROS,
        description: `rewards beyond ${formatAmount(keep)} coin`,
        trackingId: `rewards-${contractId}`,
      })
    }
    return [{ contractId, command }]
  }),
  // Returns the coin of an offer that was not accepted. The receiver's validator does this as well, if it runs.
  rewardJob('return-rewards', async (deps) => {
    const { recordTime } = deps.ledger.head()
    const ended = (await ownOffers(deps)).filter((offer) => offer.executeBefore <= recordTime)
    return ended.map(({ contractId }) => ({
      contractId,
      command: () => expireTransferCommand({ instruction: contractId, actor: deps.party }),
    }))
  }),
]
