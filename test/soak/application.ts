/** An application that is told of its mail by a webhook. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** It, listening. */
export interface Application {
  readonly url: string;
  /** The ids of messages of which it heard that they were delivered, were not sent again, bounced or were complained of. */
  readonly delivered: ReadonlySet<string>;
  readonly suppressed: ReadonlySet<string>;
  readonly returned: ReadonlySet<string>;
  /** While this is so, it takes no event the first time. */
  putsOff: boolean;
  readonly close: () => void;
}

/** Starts it. */
export async function startApplication(): Promise<Application> {
  const [delivered, suppressed, returned] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const seen = new Set<string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = JSON.parse(Buffer.concat(chunks).toString()) as Told;
    const eventId = String(request.headers['webhook-id']);
    if (application.putsOff && !seen.has(eventId)) {
      seen.add(eventId);
      response.writeHead(503).end();
      return;
    }
    seen.delete(eventId);
    const { id } = event.data.message;
    if (event.type === 'message.delivered') delivered.add(id);
    if (event.type === 'message.suppressed') suppressed.add(id);
    if (/^message\.(?:bounced|complained)$/.test(event.type)) returned.add(id);
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const application: Application = {
    // It listens, and so has such an address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/waybill`,
    delivered,
    suppressed,
    returned,
    putsOff: false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return application;
}

interface Told {
  readonly type: string;
  readonly data: { readonly message: { readonly id: string } };
}
