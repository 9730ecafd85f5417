/** Delivery status notifications by the real server: SMTP in, a next hop that refuses some, and what comes back. */
import PostalMime from 'postal-mime';
import { expect, type TestContext, test } from 'vitest';
import type { RunningServer } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { SINK_EXTENSIONS, type SinkScript } from '../peers/smtp-sink-script.ts';
import { installed } from './service.ts';

const SENDER = 'ann@example.com';
/** An application with a name, that sends from this domain only. */
const NAMED = '127.0.0.1';
/** One that may relay too, but nobody has said from where. */
const UNNAMED = '127.0.0.2';
/** The next hop's word for a recipient, by its name. */
const ANSWERS: SinkScript = {
  RCPT: ({ argument }) => {
    if (argument.includes('<none@')) return '550-5.1.1 Action: delivered\r\n550 5.1.1 Nobody has this name';
    return argument.includes('<later@') ? '450 4.2.1 Come back later' : undefined;
  },
};

/** A server with a smarthost that is a sink. */
async function setUp(context: TestContext, { delivery = '', dsn = false } = {}) {
  const extensions = dsn ? [...SINK_EXTENSIONS, 'DSN'] : SINK_EXTENSIONS;
  const sink = await startSmtpSink({ script: ANSWERS, extensions });
  context.onTestFinished(() => sink.close());
  const installation = installed(
    context,
    `
api: { port: null }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], sources: [{ name: app, cidr: ${NAMED}/32, sender_domains: [example.com] }] }
server: { hostname: mail.example.com }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1${delivery} }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`,
  );
  const server = await installation.start();
  return { sink, server };
}

/** Hands in a message; `recipients` are what RCPT says, with its parameters. */
async function send(
  server: RunningServer,
  recipients: readonly string[],
  { from = NAMED, mail = `<${SENDER}>` } = {},
): Promise<void> {
  const client = await SmtpClient.connect(server.runtime.smtp[0] ?? 0, { from });
  await client.reply();
  expect(await client.ask('EHLO client.example.com')).toContain('|250-DSN|');
  expect(await client.ask(`MAIL FROM:${mail}`)).toMatch(/^250 /);
  for (const recipient of recipients) expect(await client.ask(`RCPT TO:${recipient}`)).toMatch(/^250 /);
  await client.ask('DATA');
  const text = `From: ${SENDER}\r\nMessage-ID: <1@example.com>\r\nSubject: Hello\r\n\r\nThe body.\r\n.`;
  expect(await client.ask(text)).toMatch(/^250 2\.0\.0 queued as msg_/);
}

/** The reports that the sink has taken, as a mail program reads them. */
async function reportsIn(sink: SmtpSink) {
  const reports = sink.messages.filter(({ from }) => from.startsWith('<>'));
  return Promise.all(
    reports.map(async ({ content, to }) => {
      const { subject, text, attachments, headers } = await PostalMime.parse(content, {
        attachmentEncoding: 'utf8',
        forceRfc822Attachments: true,
      });
      const [status, returned] = attachments.map((part) => [part.mimeType, String(part.content)] as const);
      const auto = headers.find(({ key }) => key === 'auto-submitted')?.value;
      return { to, subject, text, auto, status, returned };
    }),
  );
}

const isReport = ({ from }: { readonly from: string }) => from.startsWith('<>');

test('of one refused, one put off and one taken, the refused is reported, and only the put off tried again', async (context) => {
  const { sink, server } = await setUp(context);
  await send(
    server,
    ['<none@example.net> ORCPT=rfc822;No+2BOne@example.org', '<later@example.net>', '<bob@example.net>'],
    {
      mail: `<${SENDER}> RET=FULL ENVID=order+2B42`,
    },
  );
  await sink.until(() => sink.messages.some(isReport));
  const [report, ...more] = await reportsIn(sink);
  expect(more).toEqual([]);
  expect(report).toMatchObject({
    to: [SENDER],
    subject: 'Your message could not be delivered',
    auto: 'auto-replied',
  });
  expect(report?.text).toContain('none@example.net');
  expect(report?.status?.[0]).toBe('message/delivery-status');
  const status = report?.status?.[1] ?? '';
  expect(status).toContain('Original-Envelope-Id: order+42');
  expect(status).toContain('Original-Recipient: rfc822; No+One@example.org');
  expect(status.match(/^Final-Recipient: .*$/gm)).toEqual(['Final-Recipient: rfc822; none@example.net']);
  expect(status.match(/^Action: .*$/gm)).toEqual(['Action: failed']);
  expect(status).toMatch(/^Diagnostic-Code: smtp; 550 5\.1\.1 /m);
  expect(report?.returned?.[0]).toBe('message/rfc822');
  expect(report?.returned?.[1]).toContain('The body.');
  const rcpts = () => sink.commands.flatMap(({ line }) => /^RCPT TO:<(\w+)@/.exec(line)?.[1] ?? []);
  await sink.until(() => rcpts().filter((name) => name === 'later').length >= 2);
  expect(rcpts().filter((name) => name === 'none')).toHaveLength(1);
  expect(rcpts().filter((name) => name === 'bob')).toHaveLength(1);
});

test('nobody hears of mail whose sender may be forged, of a null sender, or of NOTIFY=NEVER', async (context) => {
  const { sink, server } = await setUp(context);
  // Each its own address: what has no mailbox is not tried again.
  await send(server, ['<none@a.example>'], { from: UNNAMED });
  await send(server, ['<none@b.example>'], { mail: '<>' });
  await send(server, ['<none@c.example> NOTIFY=NEVER']);
  // What comes after them all shows that none of them was owed anything.
  await send(server, ['<none@example.net>']);
  await sink.until(() => sink.messages.some(isReport));
  await server.printed(/"event":"message\.reported"/);
  await server.printed(/(?:"event":"delivery\.failed"[\s\S]*){4}/);
  expect(server.output.match(/"event":"message\.reported"/g)).toHaveLength(1);
  expect(server.output.match(/"event":"delivery\.failed"/g)).toHaveLength(4);
});

test('a success is told as passed on, by a next hop that does not tell of it itself', async (context) => {
  const { sink, server } = await setUp(context);
  await send(server, ['<bob@example.net> NOTIFY=SUCCESS', '<eve@example.net>']);
  await sink.until(() => sink.messages.some(isReport));
  const [report] = await reportsIn(sink);
  expect(report?.subject).toBe('Your message was passed on');
  expect(report?.status?.[1].match(/^(?:Final-Recipient|Action): .*$/gm)).toEqual([
    'Final-Recipient: rfc822; bob@example.net',
    'Action: relayed',
  ]);
  expect(report?.returned?.[0]).toBe('text/rfc822-headers');
});

test('a next hop that has DSN is told what the sender asked for, and tells of it in our stead', async (context) => {
  const { sink, server } = await setUp(context, { dsn: true });
  await send(server, ['<bob@example.net> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;rob@example.org'], {
    mail: `<${SENDER}> RET=HDRS ENVID=42`,
  });
  await sink.until(() => sink.messages.length === 1);
  const lines = sink.commands.map(({ line }) => line);
  expect(lines.find((line) => line.startsWith('MAIL'))).toMatch(/ RET=HDRS(?: |$)/);
  expect(lines.find((line) => line.startsWith('MAIL'))).toMatch(/ ENVID=42(?: |$)/);
  const rcpt = lines.find((line) => line.startsWith('RCPT')) ?? '';
  expect(rcpt).toMatch(/ NOTIFY=SUCCESS,FAILURE(?: |$)/);
  expect(rcpt).toMatch(/ ORCPT=rfc822;rob@example\.org(?: |$)/);
  await server.printed(/"event":"delivery.delivered"/);
  // The report on the next message shows that there was none on this one.
  await send(server, ['<none@example.net>']);
  await sink.until(() => sink.messages.some(isReport));
  const reports = await reportsIn(sink);
  expect(reports.map(({ subject }) => subject)).toEqual(['Your message could not be delivered']);
  expect(lines.filter((line) => line.startsWith('MAIL FROM:<>'))).toEqual([]);
  const report = sink.commands.map(({ line }) => line).filter((line) => line.includes(`<${SENDER}>`));
  expect(report.filter((line) => line.startsWith('RCPT'))).toEqual([
    expect.stringMatching(/ NOTIFY=NEVER(?: |$)/),
  ]);
});

test('one address gets so many reports in an hour; the rest is recorded and logged', async (context) => {
  const { sink, server } = await setUp(context, { delivery: ', reports_per_hour: 1' });
  await send(server, ['<none@example.net>']);
  await server.printed(/"event":"message.reported"/);
  await send(server, ['<none@example.net>']);
  await server.printed(/"event":"message.report_suppressed"/);
  await sink.until(() => sink.messages.some(isReport));
  expect(sink.messages.filter(isReport)).toHaveLength(1);
});
