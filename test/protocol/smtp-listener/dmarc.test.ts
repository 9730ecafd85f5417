import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { dmarcXml } from '../../support/dmarc-xml.ts';
import { zipOf } from '../../support/zip.ts';
import { DOMAIN, returnPath, send, startWithBounces } from './bounce-world.ts';
import type { SmtpWorld } from './world.ts';

/** DMARC reports that come by mail to a bounce domain, over real sockets and a real store. */

let world: SmtpWorld;
afterEach(() => world.close());

const ADDRESS = `dmarc@${DOMAIN}`;

/** A report on yesterday's mail, as the world's clock has it. */
function xmlNow(domain = 'example.com', id = '1'): string {
  return dmarcXml({ domain, id, begin: Math.floor(world.clock.wall() / 1000) - 86_400 });
}

/** A message that has a file attached. */
function mailOf(type: string, file: Buffer): readonly string[] {
  const base64 = file.toString('base64').match(/.{1,76}/g) ?? [];
  return [
    'From: noreply@receiver.example',
    `To: ${ADDRESS}`,
    'Subject: Report Domain: example.com Submitter: receiver.example Report-ID: 1',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an aggregate report.',
    '--b',
    `Content-Type: ${type}; name=report`,
    'Content-Transfer-Encoding: base64',
    '',
    ...base64,
    '--b--',
  ];
}

const kept = () => world.stores.dmarc.dmarcReports({ domain: null, before: null, limit: 10 });

test.each([
  ['application/gzip', (xml: string) => gzipSync(xml)],
  ['application/zip', (xml: string) => zipOf([['report.xml', xml]])],
  ['application/octet-stream', (xml: string) => zipOf([['report.xml', xml]])],
  ['text/xml', (xml: string) => Buffer.from(xml)],
])('a report as %s is kept once, and never queued', async (type, packed) => {
  world = await startWithBounces();
  const client = await world.hello();
  const mail = mailOf(type, packed(xmlNow()));
  expect(await send(client, [ADDRESS], mail, 'noreply@receiver.example')).toMatch(/^250 2\.0\.0 taken/);
  expect(await send(client, [ADDRESS.toUpperCase()], mail)).toMatch(/^250 2\.0\.0 known/);
  expect(await kept()).toEqual([
    expect.objectContaining({
      domain: 'example.com',
      via: 'mail',
      reporter: 'receiver.example',
      messages: 3,
    }),
  ]);
  expect(world.desk.reports).toEqual([]);
  expect(world.intake.submissions).toEqual([]);
  expect(world.seen.flatMap((event) => (event.type === 'dmarc_report' ? [event.verdict] : []))).toEqual([
    'added',
    'known',
  ]);
});

test('what is no report, about another domain, or of another time is refused, and nothing kept', async () => {
  world = await startWithBounces();
  const client = await world.hello();
  const sent = (xml: string) => send(client, [ADDRESS], mailOf('application/gzip', gzipSync(xml)));
  expect(await send(client, [ADDRESS], ['Subject: Hello', '', 'Hi.'])).toMatch(
    /^554 5\.6\.0 .*no zip, gzip or XML/,
  );
  expect(await sent('<html/>')).toMatch(/^554 5\.6\.0 /);
  expect(await sent(' '.repeat(20_000_000))).toMatch(/^554 5\.6\.0 .*more than 16777216 bytes/);
  expect(await sent(xmlNow('example.org'))).toMatch(/^550 5\.7\.1 .*example\.org/);
  expect(await sent(dmarcXml({ begin: 1_000_000 }))).toMatch(/^550 5\.7\.1 /);
  expect(await kept()).toEqual([]);
});

test('a report has a transaction to itself', async () => {
  world = await startWithBounces();
  const client = await world.hello();
  for (const both of [
    [ADDRESS, returnPath()],
    [returnPath(), ADDRESS],
  ]) {
    expect(await send(client, both)).toMatch(/^452 4\.5\.3 /);
    await client.ask('RSET');
  }
});
