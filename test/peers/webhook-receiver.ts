import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookTry } from '../../src/domain/webhook.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createWebhookPost } from '../../src/transport/providers/webhook-post.ts';
import { endpointOf } from '../support/webhooks.ts';

/** Receivers of webhooks over real sockets, and what posts to them. */

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const BODY = Buffer.from('{"type":"message.delivered","data":{"text":"Grüße"}}');
const GO_ON = new AbortController().signal;

let servers: Server[] = [];

/** A receiver; its URL. It answers once it has the whole body. */
export async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(request, response, Buffer.concat(chunks));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`;
}

/** Ends all receivers. */
export async function endReceivers(): Promise<void> {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
}

/** How something is posted, where it is not as usual. */
export interface Posting {
  readonly mayBePrivate?: boolean;
  readonly secrets?: readonly string[] | null;
  readonly wholeMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly id?: string;
  readonly dnsServers?: readonly string[];
  readonly body?: Buffer;
}

/** Posts to a URL as to an endpoint. */
export async function post(
  url: string,
  {
    mayBePrivate = true,
    secrets = [SECRET],
    wholeMs = 20_000,
    signal = GO_ON,
    clock = systemClock,
    id = 'evt_1',
    dnsServers,
    body = BODY,
  }: Posting = {},
): Promise<WebhookTry> {
  const send = createWebhookPost({
    clock,
    version: '1.2.3',
    secretsOf: () => secrets,
    mayBePrivate: () => mayBePrivate,
    wholeMs,
    ...(dnsServers === undefined ? {} : { dnsServers: () => dnsServers }),
  });
  const endpoint = endpointOf({ url, headers: { 'X-Team': 'shop' } });
  return await send({ endpoint, id, body, secrets: 'sealed' }, signal);
}
