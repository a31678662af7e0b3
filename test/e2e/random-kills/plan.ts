/** Goals of users, drawn from a seed, and the expected result regardless of kills. */
import type { SeededRandom } from '../../support/seeded-random.ts'

export type Renewal = 'none' | 'by hand' | 'by itself'

/** One name that one user wants, or two at the same time. */
export type Goal = {
  readonly name: string
  readonly users: readonly string[]
  readonly renewal: Renewal
}

export type Plan = { readonly users: readonly string[]; readonly goals: readonly Goal[] }

/** Enough goals that a user's operations overlap, and far fewer than a party may have open. */
const GOALS_PER_USER = 5
const RIVALRY = 0.2
const RENEWALS: readonly Renewal[] = ['none', 'by hand', 'by itself']

export function drawPlan(random: SeededRandom, goalCount: number): Plan {
  const userCount = Math.max(2, Math.ceil(goalCount / GOALS_PER_USER))
  const users = Array.from({ length: userCount }, (_, index) => `user-${index + 1}`)
  const goals = Array.from({ length: goalCount }, (_, index): Goal => {
    const user = users[index % userCount] as string
    const rivals = random.chance(RIVALRY) ? [random.pick(users.filter((u) => u !== user))] : []
    return {
      name: `goal-${index + 1}.unverified.ns`,
      users: [user, ...rivals],
      renewal: random.pick(RENEWALS),
    }
  })
  return { users, goals }
}

export type Expected = {
  /** Fees that each user has paid, by user. */
  readonly feesPaid: ReadonlyMap<string, number>
  /** How often each name was renewed. */
  readonly renewals: ReadonlyMap<string, number>
}

/** The expected result: the owner of a name paid for it once, and a second time if the goal includes a renewal. */
export function expectedOf(plan: Plan, winners: ReadonlyMap<string, string>): Expected {
  const feesPaid = new Map(plan.users.map((user) => [user, 0]))
  const renewals = new Map<string, number>()
  for (const { name, users, renewal } of plan.goals) {
    const winner = winners.get(name)
    if (winner === undefined || !users.includes(winner))
      throw new Error(`${name} went to ${winner}, who never asked for it`)
    const count = renewal === 'none' ? 0 : 1
    renewals.set(name, count)
    feesPaid.set(winner, (feesPaid.get(winner) ?? 0) + 1 + count)
  }
  return { feesPaid, renewals }
}
