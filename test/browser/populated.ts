/** A dashboard over an installation that is in use: mail of every fate, relays, rules, a domain, users. */
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import type { ResultOf } from '../../src/operations/table.ts';
import { STARTERS, type Starter } from '../../web/src/pages/templates/starters.ts';
import type { Client } from '../e2e/service.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { dmarcXml } from '../support/dmarc-xml.ts';
import { Dashboard } from './dashboard.ts';
import type { Things } from './pages.ts';

/** See {@link populate}. */
export interface Populated {
  readonly dashboard: Dashboard;
  readonly sink: SmtpSink;
  readonly things: Things;
  stop(): Promise<void>;
}

/** Refuses some recipients for good, some for now. */
const SCRIPT = {
  RCPT: ({ argument }: { readonly argument: string }) => {
    if (argument.includes('nobody@')) return '550 5.1.1 <nobody@example.net>: Recipient address rejected';
    return argument.includes('later@') ? '451 4.7.1 Greylisted, come back in five minutes' : undefined;
  },
};

const PEOPLE = ['ann', 'bob', 'carla', 'dmitri', 'eve', 'farid'];
const SUBJECTS = [
  'Your invoice 1001',
  'Reset your password',
  'Welcome aboard',
  'Weekly report',
  'Build 812 passed',
];

/** Starts a server, a next hop and a browser, and lets the server be used for a while. */
export async function populate(): Promise<Populated> {
  const sink = await startSmtpSink({ script: SCRIPT });
  const dashboard = await Dashboard.start(configuration(sink.port));
  try {
    await dashboard.claim();
    return { dashboard, sink, things: await use(dashboard), stop: () => stop(dashboard, sink) };
  } catch (error) {
    await stop(dashboard, sink);
    throw error;
  }
}

function configuration(port: number): string {
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"] }
delivery: { default_relay: out }
server: { hostname: mail.example.com }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, port: ${port}, tls: none }
  - { name: spare, type: smtp, host: 127.0.0.1, port: ${port}, tls: none, max_per_day: 400 }
`;
}

async function stop(dashboard: Dashboard, sink: SmtpSink): Promise<void> {
  await dashboard.stop();
  await sink.close();
}

async function use(dashboard: Dashboard): Promise<Things> {
  const { installation } = dashboard;
  const shop = await dashboard.client('shop');
  const test = await dashboard.client('ci', '--test');
  await installation.run('domains', 'add', 'example.com');
  await installation.run('keys', 'create', 'printer', '--rate', '10', '--sender-domain', 'example.com');
  const rules = installation.spawn('routes', 'publish', '-');
  rules.stdin.end(
    'routes:\n  - { name: newsletters, match: { tag: news }, via: [spare, out] }\n  - { name: partners, match: { recipient_domain: ["*.example.org"] }, via: [out] }\n',
  );
  await once(rules, 'exit');
  const delivered: string[] = [];
  for (const [place, subject] of [...SUBJECTS, ...SUBJECTS, ...SUBJECTS].entries()) {
    const to = `${PEOPLE[place % PEOPLE.length]}@example.net`;
    delivered.push(
      await shop.send({ ...letter(subject), to: [to], tags: place % 3 === 0 ? ['news'] : ['orders'] }),
    );
  }
  const failed = await shop.send({
    ...letter('To nobody at all'),
    to: ['nobody@example.net', 'ann@example.net'],
  });
  await shop.send({ ...letter('Shipped today'), to: ['later@example.net'] });
  const captured = await test.send({
    ...letter('Your code is 135790'),
    to: ['tester@example.net'],
    box: 'worker-1',
    text: 'Your code is 135790. Or follow https://example.com/sign-in?token=abc',
    html: '<h1>Your code is 135790</h1><p><a href="https://example.com/sign-in?token=abc">Sign in</a></p>',
  });
  await test.send({ ...letter('Plain words'), to: ['tester@example.net'] });
  const faulty = await test.send({ ...FAULTY, to: ['tester@example.net'] });
  await Promise.all([
    ...delivered.map((id) => shop.end(id)),
    shop.end(failed),
    test.end(captured),
    test.end(faulty),
  ]);
  await reportOnMail(dashboard);
  const fates = await becomeKnown(dashboard, shop);
  await alarm(dashboard);
  // Refused at the door: somebody without a key.
  await fetch(shop.messages, { headers: { authorization: 'Bearer wb_live_nobody' } });
  return {
    delivered: delivered[0] ?? '',
    failed,
    captured,
    faulty,
    ...fates,
    template: await write(dashboard),
    webhook: await tell(dashboard),
  };
}

/** Lets an endpoint that nobody answers at be told of everything. Its id. */
async function tell({ installation }: Dashboard): Promise<string> {
  const added = await installation.run('webhooks', 'add', 'https://shop.invalid/waybill', '--json');
  const { id }: { readonly id: string } = JSON.parse(added.stdout).webhook;
  await installation.run('webhooks', 'replay', id, '--since', '2026-01-01T00:00:00Z', '--only', 'all');
  return id;
}

/** Lets an alert fire that one of two channels is told of, which nobody answers at. */
async function alarm(dashboard: Dashboard): Promise<void> {
  const { installation } = dashboard;
  await installation.run('alerts', 'add', 'ops', 'mail', '--to', 'ops@example.com', '--relay', 'spare');
  const chat = ['--url', 'https://chat.invalid/alerts', '--severity', 'info'];
  await installation.run('alerts', 'add', 'chat', 'webhook', ...chat);
  await installation.run(
    'alerts',
    'silence',
    'disk',
    '--minutes',
    '600',
    '--note',
    'A larger one comes on Monday',
  );
  await installation.run('alerts', 'set', 'refusals', '--off');
  await installation.run('alerts', 'set', 'quota', '--threshold', '1');
  for (let looks = 0; looks < 30; looks++) {
    const { stdout } = await installation.run('alerts', 'list', '--json');
    const { alerts }: ResultOf<'listAlerts'> = JSON.parse(stdout);
    if (alerts.some(({ notices }) => notices.some(({ tries }) => tries > 0))) return;
  }
  throw new Error('no alert was told');
}

/** Lets receivers report what they saw of mail from our domain. */
async function reportOnMail(dashboard: Dashboard): Promise<void> {
  const reporter = await dashboard.client('reporter', '--scope', 'admin');
  const forged = { dkim: 'fail', spf: 'fail', disposition: 'quarantine' } as const;
  const today = Math.floor(Date.now() / 86_400_000) * 86_400;
  for (let day = 1; day <= 20; day++)
    for (const org of ['google.com', 'Yahoo', 'Enterprise Outlook']) {
      const records = [
        { source: '192.0.2.1', count: 400 + 37 * (day % 7) },
        { source: '198.51.100.24', count: 60, dkim: 'fail' },
        { source: '2001:db8:4000::17', count: 9, spf: 'fail' },
        { source: '203.0.113.77', count: day % 5 === 0 ? 240 : 4, ...forged },
      ] as const;
      const xml = dmarcXml({ org, id: `${org}-${day}`, begin: today - day * 86_400, records });
      await ask(reporter, 'addDmarcReport', { content: gzipSync(xml).toString('base64') });
    }
}

/** Writes templates, of which one has several versions. Its alias. */
async function write(dashboard: Dashboard): Promise<string> {
  const writer = await dashboard.client('writer', '--scope', 'admin');
  const save = async (alias: string, name: string, texts: Starter, basedOn: number | null, note = '') =>
    await ask(writer, 'saveTemplate', { alias, name, ...texts, text: null, basedOn, note });
  const { list, code, letter: bare } = STARTERS;
  await save('order-received', 'Order', bare, null);
  await save('order-received', 'Order received', list, 1, 'All of its lines');
  await ask(writer, 'publishTemplate', { alias: 'order-received', version: 2 });
  const html = list.html.replace('thank you for your order', 'we have received your order');
  await save('order-received', 'Order received', { ...list, html }, 2, 'What Ann asked for');
  await save('sign-in', 'Sign-in code', code, null);
  await ask(writer, 'publishTemplate', { alias: 'sign-in', version: 1 });
  await save('goodbye', 'Goodbye', bare, null);
  return 'order-received';
}

/** Asks for an operation. */
async function ask({ key, messages }: Client, operation: string, request: object): Promise<void> {
  const response = await fetch(new URL(`admin/${operation}`, messages), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
}

/** Tells what became of mail after its delivery, of which the suppression list is made. */
async function becomeKnown(
  dashboard: Dashboard,
  shop: Client,
): Promise<Pick<Things, 'bounced' | 'suppressed'>> {
  const teller = await dashboard.client(
    'teller',
    ...['feedback:write', 'messages:read_all'].flatMap((scope) => ['--scope', scope]),
  );
  const to = ['gone@example.net', 'angry@example.org', 'ann@example.net', 'full@example.org'];
  const bounced = await shop.send({ ...letter('The new collection'), to, tags: ['news'] });
  await shop.end(bounced);
  const gone = { code: 550, enhancedCode: '5.1.1', text: 'No mailbox here by that name' };
  const full = { code: 552, enhancedCode: '5.2.2', text: 'The mailbox is full' };
  for (const [recipient, told] of [
    ['gone@example.net', { kind: 'bounce', ...gone }],
    ['full@example.org', { kind: 'bounce', ...full }],
    ['angry@example.org', { kind: 'complaint' }],
    ['ann@example.net', { kind: 'confirmation' }],
    ['ann@example.net', { kind: 'unsubscribe' }],
  ] as const)
    await teller.tell({ id: bounced, recipient, ...told });
  const suppressed = await shop.send({ ...letter('A second try'), to: ['gone@example.net'] });
  await shop.end(suppressed);
  return { bounced, suppressed };
}

/** Not as mail should be. */
const FAULTY = {
  from: 'Example Shop <orders@example.com>',
  subject: 'YOUR ORDER HAS ARRIVED AT LAST AND IS WAITING FOR YOU TO COME AND FETCH IT, {{name}}',
  html: `<h1>Hello {{name}},</h1>
<p><img src="http://shop.example.com/box.png" width="900"></p>
<p>Pay at <a href="https://pay.example.net/login">https://shop.example.com</a>, or <a href="javascript:pay()">here</a>.</p>`,
};

function letter(subject: string) {
  return {
    from: 'Example Shop <orders@example.com>',
    subject,
    text: `${subject}.\n\nThank you for your order. You find all of it at https://shop.example.com/orders/1001`,
    html: `<div style="font-family:sans-serif"><h2>${subject}</h2><p>Thank you for your order.</p><p><a href="https://shop.example.com/orders/1001">See your order</a></p></div>`,
    attachments: [{ filename: 'invoice.txt', content: new TextEncoder().encode('Total: 12 EUR\n') }],
  };
}
