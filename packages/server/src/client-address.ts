/**
 * Finds the address of the client of a request: that of the connection, or, if that is a trusted reverse proxy, the one
 * in the header of the proxy. Only the end of the header counts, which the proxy wrote: the client may have sent the
 * rest.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { addTo, familyOf, type ProxiesConfig } from '@quorumscan/config'

export type ClientAddresses = ReturnType<typeof createClientAddresses>

/** @throws {RangeError} If an item is neither an address nor a network. */
export function createClientAddresses({ trusted, header }: ProxiesConfig) {
  const proxies = new BlockList()
  for (const item of trusted) addTo(proxies, item)
  /** Whether a trusted proxy has this address: its connections carry requests of many clients. */
  const isProxy = (address: string | undefined): boolean => {
    if (trusted.length === 0 || address === undefined) return false
    const withoutZone = address.split('%', 1)[0] ?? ''
    return proxies.check(withoutZone, familyOf(withoutZone))
  }
  return {
    isProxy,
    /**
     * The address of the client: from the right, the first that is not a proxy's. If a proxy reports none, its own.
     * Undefined on a unix socket.
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
        const reported = addressIn(header === 'forwarded' ? parameterFor(hop) : hop)
        if (reported === null) return address
        address = reported
        if (!isProxy(reported)) return reported
      }
      return address
    },
  }
}

/** The items of a list; a comma between quotes is part of an item. From the right: the left may be forged. */
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

/** The parameter `for=` of a hop of `Forwarded` (RFC 7239); empty if it is missing. */
function parameterFor(hop: string): string {
  const [, quoted, plain = ''] = /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;"]*))/i.exec(hop) ?? []
  return quoted ?? plain
}

/** An address, which may have a port; null for `unknown`, names, and any other text. */
function addressIn(text: string): string | null {
  const bare =
    /^\[([0-9a-f:.]+)\](?::[0-9]{1,5})?$/i.exec(text)?.[1] ??
    /^([0-9.]+):[0-9]{1,5}$/.exec(text)?.[1] ??
    text
  return isIP(bare) === 0 ? null : bare
}
