/** Which addresses lead to one machine, where the platform resolves host names (D-89). */
import { machineOf } from './node-url.ts'

/** All addresses of a host name. Rejects if it has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/** The platform, as far as it is used here. */
type NodeProcess = {
  getBuiltinModule?(id: string): {
    lookup(
      hostname: string,
      options: { readonly all: true },
    ): Promise<readonly { readonly address: string }[]>
  }
}

/** IPv4 within IPv6: mapped (RFC 4291), or of an IPv4-only host behind NAT64 (RFC 6052), without zeros between. */
const IPV4_WITHIN = /^\[(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/
/** Groups of an IPv6 address, of 16 bits each. */
const IPV6_GROUPS = 8

/** The resolver of Node.js, which its connections use, too; null in browsers, which show no addresses. */
export function platformResolver(): ResolveHost | null {
  const { process } = globalThis as { readonly process?: NodeProcess }
  // Not by `import`: bundles for browsers would look for the module.
  const dns = process?.getBuiltinModule?.('node:dns/promises')
  if (dns === undefined) return null
  return async (hostname) =>
    (await dns.lookup(hostname, { all: true })).map(({ address }) => address)
}

/**
 * The machine of each URL: equal for URLs that `machineOf` names alike, and for those whose hosts share an address, also
 * by way of a third one. A host that cannot be resolved within the time of the signal is known by its name alone: it
 * cannot be asked either, so that it only adds to the answers that are needed.
 *
 * @param resolve - null: host names are not resolved.
 */
export async function resolveMachines(
  urls: readonly string[],
  { resolve, signal }: { readonly resolve: ResolveHost | null; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const given = urls.map(machineOf)
  if (resolve === null) return given
  const late = new Promise<readonly string[]>((done) => {
    signal.addEventListener('abort', () => done([]), { once: true })
  })
  const resolved = await Promise.all(
    urls.map(async (url, index) => {
      const { hostname, port } = new URL(url)
      const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      const addresses = resolve(host).catch(() => [])
      const found = signal.aborted ? [] : await Promise.race([addresses, late])
      const withPort = port === '' ? '' : `:${port}`
      const { protocol } = new URL(url)
      const machines = found.map((address) => machineAt(address, `${protocol}//`, withPort))
      return [given[index] as string, ...machines]
    }),
  )
  /** The name of the machine by each of its names and addresses. */
  const names = new Map<string, string>()
  for (const all of resolved) {
    const known = all.flatMap((one) => names.get(one) ?? [])
    const name = known[0] ?? (all[0] as string)
    for (const [one, other] of names) if (known.includes(other)) names.set(one, name)
    for (const one of all) names.set(one, name)
  }
  return given.map((one) => names.get(one) as string)
}

/** The name of the machine at an IP address. IPv4 within IPv6 is the same machine. */
function machineAt(address: string, scheme: string, port: string): string {
  const host = address.includes(':') ? `[${address.replace(/%.*/, '')}]` : address
  const name = machineOf(`${scheme}${host}${port}`)
  const [, high, low] = IPV4_WITHIN.exec(name) ?? []
  if (high === undefined || low === undefined)
    // Behind NAT64 the addresses of all IPv4-only hosts share a prefix (RFC 8215).
    return name.startsWith('[') && !name.startsWith('[64:ff9b:1:') ? networkOf(name) : name
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return machineOf(`${scheme}${bits}${port}`)
}

/** The /64 of an IPv6 address, as URLs write it: whoever has one of its addresses has all, so that they are one machine. */
function networkOf(host: string): string {
  const [left = '', right] = host.slice(1, -1).split('::')
  const groups = left === '' ? [] : left.split(':')
  if (right !== undefined) {
    const others = right === '' ? [] : right.split(':')
    while (groups.length + others.length < IPV6_GROUPS) groups.push('0')
    groups.push(...others)
  }
  return `${groups.slice(0, IPV6_GROUPS / 2).join(':')}::/64`
}
