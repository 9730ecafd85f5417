/** One-click unsubscribe at the real program: what recipients get, and what a click does, over deaths as well. */
import PostalMime from 'postal-mime';
import { expect, onTestFinished, test } from 'vitest';
import type { DomainDetail } from '../../src/operations/domains.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { askMailauth } from '../support/dkim.ts';
import { type Service, startService } from './service.ts';

const TO = ['ann@example.net', 'bob@example.net'];
const LETTER = {
  from: 'Shop <news@example.com>',
  to: TO,
  subject: 'November',
  text: 'Grüße! Leave: %unsubscribe_url%',
  html: '<p>Grüße!</p><a href="%unsubscribe_url%">Leave</a>',
  unsubscribe: { stream: 'news' },
};
const SIGNED = ['from', 'list-unsubscribe', 'list-unsubscribe-post', 'list-id'];

/** A service whose domain signs, the sink that it sends to, and what the DNS would say of the domain's keys. */
async function started(threads = 1, database: string | null = null, more = '') {
  const sink = await startSmtpSink();
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
threads: { ingest: ${threads} }
${database === null ? '' : `database: { url: "${database}" }`}
server: { public_url: https://mail.example.com }
bounces: { domain: bounces.example.com }
${more}
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`);
  onTestFinished(async () => {
    await service.stop();
    await sink.close();
  });
  const { stdout } = await service.installation.run('domains', 'add', 'example.com', '--json');
  const records: Record<string, string> = {};
  for (const { name, zoneLine } of (JSON.parse(stdout) as DomainDetail).records)
    if (name.includes('_domainkey'))
      records[name] = [...zoneLine.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text).join('');
  return { service, sink, records };
}

/** What each recipient got: every signature of it holds, over the fields that RFC 8058 asks for. Their links. */
async function linksIn(sink: SmtpSink, records: Record<string, string>): Promise<string[]> {
  const links: string[] = [];
  for (const address of TO) {
    const [letter, ...others] = sink.messages.filter(({ to }) => to.includes(address));
    expect([letter?.to, others]).toEqual([[address], []]);
    const bytes = letter?.content ?? Buffer.alloc(0);
    expect(await askMailauth(bytes, records)).toEqual(['pass', 'pass']);
    const [, signed = ''] = /\bh=([^;]*);/.exec(bytes.toString('latin1')) ?? [];
    expect(signed.replace(/\s/g, '').split(':')).toEqual(expect.arrayContaining(SIGNED));
    const mail = await PostalMime.parse(bytes);
    const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(header('list-id')).toBe('<news.example.com>');
    const form =
      /^<(https:\/\/mail\.example\.com\/u\/(\w+))>, <mailto:u-\2@bounces\.example\.com\?subject=unsubscribe>$/;
    const [, link = ''] = form.exec(header('list-unsubscribe') ?? '') ?? [];
    expect(mail.text?.trim()).toBe(`Grüße! Leave: ${link}`);
    expect(mail.html?.trim()).toBe(`<p>Grüße!</p><a href="${link}">Leave</a>`);
    links.push(link);
  }
  expect(new Set(links).size).toBe(TO.length);
  return links;
}

/** The link, at this server. */
const at = ({ server }: Service, link: string) => server.api + new URL(link).pathname;

async function click(service: Service, link: string) {
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  const answer = await fetch(at(service, link), { method: 'POST', body, redirect: 'manual' });
  return [answer.status, answer.headers.get('content-type'), answer.headers.get('set-cookie')];
}

test('a click outlives a death, and stops this stream for this recipient alone', async () => {
  const { service, sink, records } = await started(2);
  const id = await service.client.send(LETTER);
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  const [, bob = ''] = await linksIn(sink, records);

  const page = await fetch(at(service, bob));
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('<bdi>news</bdi>');
  expect((await service.client.record(id)).recipients.map(({ unsubscribedAt }) => unsubscribedAt)).toEqual([
    null,
    null,
  ]);

  expect(await click(service, bob)).toEqual([200, 'text/plain; charset=utf-8', null]);
  await service.server.end('SIGKILL');
  await service.restart();
  expect(await click(service, bob)).toEqual([200, 'text/plain; charset=utf-8', null]);
  const { recipients } = await service.client.record(id);
  expect(recipients.map(({ unsubscribedAt }) => unsubscribedAt)).toEqual([null, expect.any(String)]);

  const outcomes = async (fields: object) => {
    const sent = await service.client.send({ ...LETTER, ...fields });
    return (await service.client.end(sent)).recipients.map(({ outcome }) => outcome);
  };
  expect(await outcomes({})).toEqual(['accepted', 'suppressed']);
  expect(await outcomes({ unsubscribe: { stream: 'sales' } })).toEqual(['accepted', 'accepted']);
  expect(await outcomes({ unsubscribe: null })).toEqual(['accepted', 'accepted']);
  expect(service.server.output).not.toContain(bob.split('/').at(-1));
}, 60_000);

test('a link outlives the record of its message', async () => {
  const { service, sink, records } = await started(
    1,
    null,
    'retention: { content_days: 0, records_days: 0 }',
  );
  const id = await service.client.send(LETTER);
  const status = async () => (await service.client.get(`/${id}`)).status;
  await expect.poll(status).toBe(404);
  const [ann = '', bob = ''] = await linksIn(sink, records);
  expect(await (await fetch(at(service, bob))).text()).toContain('<bdi>news</bdi>');
  for (const _ of [1, 2]) expect(await click(service, bob)).toEqual([200, 'text/plain; charset=utf-8', null]);
  const { stdout } = await service.installation.run('suppressions', 'list', '--json');
  expect(JSON.parse(stdout).suppressions).toMatchObject([
    { address: TO[1], stream: 'news', reason: 'unsubscribe', evidence: { messageId: id } },
  ]);
  expect((await click(service, `${ann}0`))[0]).toBe(404);
}, 60_000);

/** Copies that wait, while the server dies or not, are sent from the spool; then the message is sent again. */
async function waitOut(
  { service, sink, records }: Awaited<ReturnType<typeof started>>,
  dies: boolean,
): Promise<void> {
  sink.script = { RCPT: () => '451 4.3.0 not now' };
  const id = await service.client.send(LETTER);
  await service.client.until(id, 'retrying');
  if (dies) await service.server.end('SIGKILL');
  sink.script = {};
  if (dies) await service.restart();
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  await linksIn(sink, records);
  sink.messages.length = 0;
  const again = await service.client.api.resend(id);
  if (!again.ok) throw new Error(again.error.message);
  expect(await service.client.end(again.value.id)).toMatchObject({ status: 'delivered' });
  await expect.poll(() => sink.messages.length).toBe(2);
  await linksIn(sink, records);
}

test('copies that wait while the server dies are sent from the spool, each to its recipient', async () => {
  await waitOut(await started(), true);
}, 60_000);

describeWith(POSTGRES_PROGRAMS, 'over PostgreSQL', () => {
  test('copies that wait are sent from the database', async () => {
    const postgres = await Postgres.start();
    onTestFinished(() => postgres.stop());
    // A lane of a node that died is taken over only after a while.
    await waitOut(await started(1, await postgres.schema()), false);
  }, 120_000);
});
