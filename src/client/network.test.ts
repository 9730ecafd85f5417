/** Connections that do not come to be, and whether another try can help. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../test/peers/certificate.ts';
import { FaultyApi } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import { lossOf } from './call.ts';
import { Waybill } from './waybill.ts';

test.for<[string, RegExp, () => Promise<string>]>([
  ['a certificate of its own', /not trusted here.*NODE_EXTRA_CA_CERTS/, selfSigned],
  [
    'no TLS',
    /no TLS at this port.*http:\/\//,
    async () => (await FaultyApi.start()).url.replace('http', 'https'),
  ],
  [
    'a port that browsers shun',
    /Let the server use another \(api\.port\)/,
    async () => 'http://127.0.0.1:25',
  ],
])('a server with %s is asked once, and the cure told', async ([, message, start]) => {
  const url = await start();
  let asked = 0;
  const counted: typeof fetch = (input, init) => {
    asked += 1;
    return fetch(input, init);
  };
  const client = new Waybill({ url, key: 'wb_live_x', fetch: counted, machine: new ManualMachine() });
  expect(await client.resend('msg_1')).toMatchObject({
    ok: false,
    error: { kind: 'network', maybeAccepted: false, message: expect.stringMatching(message) },
  });
  expect(asked).toBe(1);
});

test.for<[string, boolean, boolean]>([
  ['CERT_HAS_EXPIRED', false, false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', false, false],
  ['ECONNREFUSED', true, false],
  ['ENOTFOUND', true, false],
  ['ECONNRESET', true, true],
  ['something new', true, true],
])('%s: another try may help %s, the server may have got it %s', ([code, passing, maybeDone]) => {
  const thrown = new TypeError('fetch failed', { cause: Object.assign(new Error('inside'), { code }) });
  const loss = lossOf(thrown, 'http://mail');
  expect(loss).toMatchObject({ passing, maybeDone, message: expect.stringContaining(`(${code})`) });
});

async function selfSigned(): Promise<string> {
  const server = createServer(createCertificate({ hosts: ['127.0.0.1'] }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
