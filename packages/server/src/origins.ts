/**
 * Where requests come from: the address of a connection, or, where that is one of our reverse proxies, the address
 * that the proxy tells. A header counts for what a trusted proxy wrote into it, which is its end: whatever else is in
 * it may be of anybody.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { addTo, familyOf, type ProxiesConfig } from '@quorumscan/config'

export type Origins = ReturnType<typeof createOrigins>

/** @throws {RangeError} If an item is neither an address nor a network. */
export function createOrigins({ trusted, header }: ProxiesConfig) {
  const proxies = new BlockList()
  for (const item of trusted) addTo(proxies, item)
  /** Whether there are proxies at this address, whose connections are of many clients. */
  const isProxy = (address: string | undefined): boolean => {
    if (trusted.length === 0 || address === undefined) return false
    const withoutZone = address.split('%', 1)[0] ?? ''
    return proxies.check(withoutZone, familyOf(withoutZone))
  }
  return {
    isProxy,
    /**
     * The address of the client: read from the right, the first that is not a proxy's. Where a proxy reports none, it
     * is its own. Undefined on a unix socket.
     */
    addressOf({
      socket,
      headers,
    }: {
      readonly socket: Pick<Socket, 'remoteAddress'>
      readonly headers: IncomingHttpHeaders
    }): string | undefined {
      let address = socket.remoteAddress
      if (!isProxy(address)) return address
      const given = headers[header]
      for (const hop of hopsFromRight(typeof given === 'string' ? given : '')) {
        const told = addressIn(header === 'forwarded' ? parameterFor(hop) : hop)
        if (told === null) return address
        address = told
        if (!isProxy(told)) return told
      }
      return address
    },
  }
}

/** The items of a list, of which a comma between quotes is a part. The left may be anything: it is looked at last. */
function* hopsFromRight(list: string): Generator<string> {
  let end = list.length
  let isQuoted = false
  for (let at = end - 1; at >= 0; at--) {
    if (list[at] === '"') isQuoted = !isQuoted
    if (list[at] !== ',' || isQuoted) continue
    yield list.slice(at + 1, end).trim()
    end = at
  }
  if (end > 0) yield list.slice(0, end).trim()
}

/** What a hop of `Forwarded` (RFC 7239) says after `for=`; empty where it says nothing. */
function parameterFor(hop: string): string {
  const [, quoted, plain = ''] = /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;"]*))/i.exec(hop) ?? []
  return quoted ?? plain
}

/** An address, which may have a port; null for `unknown`, for names, and for what is none. */
function addressIn(text: string): string | null {
  const bare =
    /^\[([0-9a-f:.]+)\](?::[0-9]{1,5})?$/i.exec(text)?.[1] ??
    /^([0-9.]+):[0-9]{1,5}$/.exec(text)?.[1] ??
    text
  return isIP(bare) === 0 ? null : bare
}
