/**
 * Java's HttpClient with its defaults, which offers h2c with each request over http, reads nodes, the proxy and `/v2`. It
 * reuses connections, also after a request with a body.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger } from '@quorumscan/runtime'
import { provided, required, send, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork } from './testing/network.ts'

const CLIENT = `
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Client {
  /** Arguments: a token, then method, URL and body of each request. */
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int i = 1; i + 2 < args.length; i += 3) {
      HttpRequest.BodyPublisher body = args[i + 2].isEmpty()
        ? HttpRequest.BodyPublishers.noBody()
        : HttpRequest.BodyPublishers.ofString(args[i + 2]);
      HttpRequest request = HttpRequest.newBuilder(URI.create(args[i + 1]))
        .method(args[i], body)
        .timeout(Duration.ofSeconds(60))
        .header("authorization", "Bearer " + args[0])
        .header("content-type", "application/json")
        .build();
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      System.out.println(response.statusCode() + " " + response.version() + " "
        + response.body().replaceAll("\\s", ""));
    }
  }
}
`

it.skipIf(provided('java') === null)(
  "Java's HttpClient reads nodes, the proxy and /v2",
  {
    tags: ['long', 'java'],
    timeout: 240_000,
  },
  async ({ resources, directory }) => {
    const network = resources.opened(await startNetwork(4))
    const logger = createLogger({ name: 'validator', level: 'silent' })
    const { url } = resources.opened(await startValidator(network.config, { logger }))
    const isReady = async () => (await send(`${url}/readyz`)).status === 200
    await untilTrue('the validator to be ready', isReady)
    const [node] = network.config.seeds
    const file = join(directory, 'Client.java')
    await writeFile(file, CLIENT)
    const lookups = JSON.stringify({ lookups: [{ name: 'sv-2.sv.ns' }] })
    const requests = [
      ['GET', `${node}/v0/genesis`, ''],
      ['GET', `${node}/v0/ans-entries/by-name/sv-2.sv.ns`, ''],
      ['POST', `${node}/v0/ans-entries/batch`, lookups],
      ['GET', `${node}/v0/nothing`, ''],
      ['GET', `${url}/v0/scan-proxy/ans-entries/by-name/sv-2.sv.ns`, ''],
      ['GET', `${url}/v2/version`, ''],
      ['GET', `${url}/v2/state/ledger-end`, ''],
      ['POST', `${url}/v0/register`, '{}'],
      ['GET', `${url}/v2/users?pageSize=1`, ''],
    ]
    const token = await network.token('participant_admin')
    const { stdout } = await promisify(execFile)(required('java'), [
      file,
      token,
      ...requests.flat(),
    ])
    const lines = stdout.trim().split('\n')
    expect(lines.map((line) => line.slice(0, 12))).toEqual(
      requests.map(([, path]) => `${path?.endsWith('nothing') ? 404 : 200} HTTP_1_1`),
    )
    expect(lines[1]).toContain('"name":"sv-2.sv.ns"')
    expect(lines[4]).toContain('"name":"sv-2.sv.ns"')
  },
)
