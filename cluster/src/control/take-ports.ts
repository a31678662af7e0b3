/** Prepares the directory of a cluster, and takes its control port. */
import { CommandError, readJson } from '@quorumscan/runtime'
import { type Prepared, type PrepareInput, prepareCluster } from '../rig/prepare.ts'

/** Blocks of ports that are drawn before a start fails. */
const DRAWS_MAX = 5

/** Another program listens on the control port. */
export class PortTakenError extends CommandError {}

/**
 * Draws other ports if another cluster, which starts at the same time, has taken the control port since they were drawn. A
 * port that an operator chose, now or at an earlier start, is taken or refused.
 *
 * @param listen - Listens on the control port. Throws PortTakenError if it is taken.
 * @throws {PortTakenError} If a chosen port is taken, or each of the blocks that were drawn.
 * @throws {CommandError} As `prepareCluster`.
 */
export async function takePorts<S>(
  input: PrepareInput,
  listen: (prepared: Prepared) => Promise<S>,
): Promise<{ readonly prepared: Prepared; readonly server: S }> {
  const isNew = readJson(input.directory.clusterFile) === null
  const mayDraw = input.basePort === 0 || (input.basePort === null && isNew)
  for (let draws = 1; ; draws++) {
    // The first round has made the genesis.
    const again = { isRedrawn: true, overrides: null }
    const prepared = await prepareCluster(draws === 1 ? input : { ...input, ...again })
    try {
      return { prepared, server: await listen(prepared) }
    } catch (error) {
      if (!(error instanceof PortTakenError) || !mayDraw || draws === DRAWS_MAX) throw error
    }
  }
}
