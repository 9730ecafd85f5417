import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { MOST_RECIPIENTS, PROVIDER_TYPES } from './relay-types.ts';
import { readRelay } from './relays.ts';

const SECRET = 'SG.very-secret';

function read(raw: Record<string, unknown>, extra: object = {}) {
  const reading = readRelay({
    raw: { name: 'out', secret: SECRET, ...raw },
    key: 'relays[0]',
    source: 'file',
    origin: 'file',
    readSecret: () => SECRET,
    ...extra,
  });
  return reading.relay ?? reading.faults.map(formatFault);
}

const SES = { type: 'ses', region: 'eu-west-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE' };
const MAILGUN = { type: 'mailgun', domain: 'mg.example.com' };
const GRAPH = {
  type: 'graph',
  tenant: 'contoso.onmicrosoft.com',
  client_id: '11111111-2222-3333-4444-555555555555',
};
const WEBHOOK = { type: 'webhook', url: 'https://hooks.example.com/mail/' };
const LEAST = {
  ses: SES,
  mailgun: MAILGUN,
  graph: GRAPH,
  webhook: WEBHOOK,
  postmark: { type: 'postmark' },
  sendgrid: { type: 'sendgrid' },
  resend: { type: 'resend' },
} as const;

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail-events';
/** The key of the examples in SendGrid's own libraries. */
const P256 =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==';
/** Over another curve. */
const SECP256K1 =
  'MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEeb5mfvncu6xVoGKVzocLBwKb/NstzijZWfKBWxb4F5hIOtp3JqPEZV2k+/wOEQio/Re0SKaFVBmcR9CP+xDUuA==';

test.each([
  [
    { ...SES, webhook_topic_arn: 'arn:aws:sqs:eu-west-1:1:q' },
    'webhook_topic_arn = "arn:aws:sqs:eu-west-1:1:q": must be',
  ],
  [
    { type: 'sendgrid', webhook_public_key: 'AAAA' },
    'webhook_public_key = "AAAA": must be a public key over P-256',
  ],
  [{ type: 'sendgrid', webhook_public_key: SECP256K1 }, 'must be a public key over P-256'],
  [{ type: 'postmark', webhook_username: 'a:b' }, 'webhook_username = "a:b": must be'],
  [{ type: 'resend', webhook_secret: 'c2VjcmV0' }, 'webhook_secret: must be whsec_'],
  [{ type: 'sendgrid', webhook_secret: 'x' }, 'webhook_secret: has no meaning for type sendgrid'],
  [{ type: 'resend', webhook_topic_arn: TOPIC }, 'webhook_topic_arn = '],
])('what would prove no webhook is refused: %j', (raw, fault) => {
  expect(read(raw)).toEqual([expect.stringContaining(fault)]);
});

const COMMON = { allowPrivate: false, secret: SECRET };

test.each([
  [SES, { endpoint: 'https://email.eu-west-1.amazonaws.com', region: 'eu-west-1', configurationSet: null }],
  [
    { ...SES, configuration_set: 'bulk' },
    { configurationSet: 'bulk', accessKeyId: SES.access_key_id },
  ],
  [MAILGUN, { endpoint: 'https://api.mailgun.net', domain: 'mg.example.com' }],
  [{ ...MAILGUN, region: 'eu' }, { endpoint: 'https://api.eu.mailgun.net' }],
  [{ type: 'postmark' }, { endpoint: 'https://api.postmarkapp.com', messageStream: null }],
  [{ type: 'postmark', message_stream: 'broadcast' }, { messageStream: 'broadcast' }],
  [{ type: 'sendgrid' }, { endpoint: 'https://api.sendgrid.com' }],
  [
    { type: 'sendgrid', endpoint: 'https://api.eu.sendgrid.com/' },
    { endpoint: 'https://api.eu.sendgrid.com' },
  ],
  [{ type: 'resend' }, { endpoint: 'https://api.resend.com' }],
  [
    GRAPH,
    {
      endpoint: 'https://graph.microsoft.com/v1.0',
      authority: 'https://login.microsoftonline.com',
      tenant: GRAPH.tenant,
      clientId: GRAPH.client_id,
      mailbox: null,
    },
  ],
  [{ ...GRAPH, mailbox: 'out@contoso.com' }, { mailbox: 'out@contoso.com' }],
  [WEBHOOK, { endpoint: 'https://hooks.example.com/mail/' }],
  [SES, { webhookTopicArn: null }],
  [{ ...SES, webhook_topic_arn: TOPIC }, { webhookTopicArn: TOPIC }],
  [{ type: 'sendgrid', webhook_public_key: P256 }, { webhookPublicKey: P256 }],
  [{ ...MAILGUN, webhook_secret: 'key' }, { webhookSecret: 'key' }],
  [
    { type: 'postmark', webhook_username: 'hook', webhook_secret_file: '/run/secret' },
    { webhookUsername: 'hook', webhookSecret: SECRET },
  ],
  [{ type: 'resend', webhook_secret: 'whsec_c2VjcmV0' }, { webhookSecret: 'whsec_c2VjcmV0' }],
])('a definition says how a provider is spoken to: %j', (raw, settings) => {
  expect(read(raw)).toMatchObject({
    type: raw.type,
    smtp: null,
    mx: null,
    limits: { maxConcurrency: raw.type === 'graph' ? 4 : 10 },
    provider: { type: raw.type, ...COMMON, ...settings },
  });
});

test.each(PROVIDER_TYPES)(
  '%s has a default for the recipients at once, and no more than it takes',
  (type) => {
    const most = MOST_RECIPIENTS[type];
    expect(read(LEAST[type])).toMatchObject({ limits: { maxRecipients: most } });
    expect(read({ ...LEAST[type], max_recipients: most })).toMatchObject({ limits: { maxRecipients: most } });
    expect(read({ ...LEAST[type], max_recipients: most + 1 })).toEqual([
      `relays[0].max_recipients = ${most + 1}: must be at most ${most} with type ${type}, which accepts no more at once (file)`,
    ]);
  },
);

test.each(PROVIDER_TYPES)('%s needs a secret, which may lie in a file', (type) => {
  const bare = { ...LEAST[type], secret: null };
  expect(read(bare)).toEqual(['relays[0].secret: must be given (file)']);
  expect(read({ ...bare, secret_file: '/p' })).toMatchObject({ provider: { secret: SECRET } });
  expect(read({ ...LEAST[type], secret_file: '/p' })).toEqual([
    'relays[0].secret_file: secret is given too; keep only one of them (file)',
  ]);
  // It is given, if not there: one message is enough.
  const gone = read(
    { ...bare, secret_file: '/gone' },
    {
      readSecret: () => {
        throw new Error('no such file');
      },
    },
  );
  expect(gone).toEqual(['relays[0].secret_file = "/gone": cannot be read: no such file (file)']);
  // What is stored and cannot be opened any more must not keep the server down.
  const lost = { origin: 'stored', source: 'stored relay', secretElsewhere: true };
  expect(read(bare, lost)).toMatchObject({ provider: { secret: '' } });
});

test('a quota, a reserve and a warm-up become limits', () => {
  const raw = { ...WEBHOOK, max_per_day: 5000, quota_reserve_percent: 10, warmup_start: '2026-12-01' };
  const startDay = Date.UTC(2026, 11, 1) / 86_400_000;
  const steps = [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 100_000];
  expect(read(raw)).toMatchObject({
    limits: { maxPerDay: 5000, reservePercent: 10, warmUp: { startDay, perDay: steps } },
  });
  expect(read({ ...raw, warmup_per_day: [5, 10] })).toMatchObject({
    limits: { warmUp: { startDay, perDay: [5, 10] } },
  });
});

const FILE_ONLY =
  'only with allow_private, in the configuration file only, or for a stored relay with its name in delivery.private_relays';
const URL_RULE =
  'must be a URL such as https://api.example.com, of at most 2048 characters, without user name, password, query and fragment, or null';

test.each([
  [{ ...SES, region: null }, '.region: must be given'],
  [{ ...SES, region: 'eu' }, '.region = "eu": must be a region of AWS such as eu-west-1'],
  [{ ...SES, access_key_id: null }, '.access_key_id: must be given'],
  [
    { ...SES, domain: 'a.example' },
    '.domain = "a.example": has no meaning for type ses; it is for type mailgun',
  ],
  [
    { ...SES, return_path: 'verp' },
    '.return_path = "verp": has no meaning for type ses: its API sets the return path, and the provider tells of bounces itself',
  ],
  [{ ...SES, host: 'h' }, '.host = "h": has no meaning for type ses; it is for type smtp'],
  [{ ...SES, port: 25 }, '.port = 25: has no meaning for type ses; it is for types smtp, mx'],
  [
    { ...SES, source_ips: ['192.0.2.1'] },
    '.source_ips = ["192.0.2.1"]: has no meaning for type ses; it is for types smtp, mx',
  ],
  [{ ...SES, acess_key_id: 'x' }, '.acess_key_id: no such field; did you mean access_key_id?'],
  [{ ...MAILGUN, domain: null }, '.domain: must be given'],
  [{ ...MAILGUN, region: 'eu1' }, '.region = "eu1": must be us or eu with type mailgun; did you mean eu?'],
  [{ ...GRAPH, tenant: null }, '.tenant: must be given'],
  [
    { ...GRAPH, client_id: 'me' },
    '.client_id = "me": must be an id of the form 00000000-0000-0000-0000-000000000000',
  ],
  [{ type: 'webhook' }, '.url: must be given'],
  [
    { ...WEBHOOK, endpoint: 'https://x.example' },
    '.endpoint = "https://x.example": has no meaning for type webhook; it is for types ses, mailgun, postmark, sendgrid, resend, graph',
  ],
  [
    { type: 'resend', url: 'https://x.example' },
    '.url = "https://x.example": has no meaning for type resend; it is for type webhook',
  ],
  [
    { type: 'resend', endpoint: 'http://x.example' },
    `.endpoint = "http://x.example": must begin with https://: plain HTTP ${FILE_ONLY}`,
  ],
  [
    { type: 'resend', endpoint: 'https://10.0.0.1' },
    `.endpoint = "https://10.0.0.1": is not a public address: such ${FILE_ONLY}`,
  ],
  [
    { type: 'resend', endpoint: 'https://[::1]:8443' },
    `.endpoint = "https://[::1]:8443": is not a public address: such ${FILE_ONLY}`,
  ],
  // Browsers read this as 127.0.0.1.
  [
    { type: 'resend', endpoint: 'https://0x7f.1' },
    `.endpoint = "https://0x7f.1": is not a public address: such ${FILE_ONLY}`,
  ],
  [
    { ...GRAPH, authority: 'http://x.example' },
    `.authority = "http://x.example": must begin with https://: plain HTTP ${FILE_ONLY}`,
  ],
  [{ type: 'resend', endpoint: 'ftp://x.example' }, `.endpoint = "ftp://x.example": ${URL_RULE}`],
  [{ ...WEBHOOK, url: 'https://u:hidden@x.example/' }, `.url: ${URL_RULE}`],
  [{ ...WEBHOOK, url: 'https://x.example/?token=hidden' }, `.url: ${URL_RULE}`],
  [{ ...WEBHOOK, url: 'https://x.example/#hidden' }, `.url: ${URL_RULE}`],
  [
    { ...SES, password: 'hidden' },
    '.password: has no meaning for type ses; it is for type smtp; did you mean secret?',
  ],
  [
    { type: 'resend', secret: 'hidden key' },
    '.secret: must be 1 to 1024 visible ASCII characters without blanks, or null',
  ],
  [
    { type: 'resend', tls: 'none' },
    '.tls = "none": has no meaning for type resend; it is for types smtp, mx',
  ],
])('a bad definition is refused, without what must not be shown: %j', (raw, line) => {
  expect(read(raw)).toEqual([`relays[0]${line} (file)`]);
  expect(JSON.stringify(read(raw))).not.toContain('hidden');
  expect(JSON.stringify(read(raw))).not.toContain(SECRET);
});

test('a type that is nearly right is told', () => {
  expect(read({ type: 'sendgird' })).toEqual([expect.stringContaining('; did you mean sendgrid? (file)')]);
});

test('a stored smarthost may not be link-local, unless the file names it', () => {
  const smarthost = { type: 'smtp', host: 'mail.example.com', secret: undefined };
  const stored = { origin: 'stored', source: 'stored relay' };
  expect(read(smarthost, { ...stored, privateRelays: [] })).toMatchObject({ smtp: { noLinkLocal: true } });
  for (const relay of [read(smarthost), read(smarthost, { ...stored, privateRelays: ['out'] })])
    expect(relay).not.toMatchObject({ smtp: { noLinkLocal: true } });
});

test('plain HTTP and private addresses are for the file, and for stored relays that the file names', () => {
  const local = { type: 'resend', endpoint: 'http://127.0.0.1:9' };
  const settings = { provider: { endpoint: 'http://127.0.0.1:9', allowPrivate: true } };
  expect(read({ ...local, allow_private: true })).toMatchObject(settings);
  const stored = { origin: 'stored', source: 'stored relay' };
  expect(read(local, { ...stored, privateRelays: ['other', 'out'] })).toMatchObject(settings);
  expect(read(local, { ...stored, privateRelays: ['other'] })).toEqual([
    expect.stringContaining('must begin'),
  ]);
  expect(read({ ...local, allow_private: true }, { ...stored, privateRelays: [] })).toEqual([
    'relays[0].allow_private = true: can be set in the configuration file only (stored relay)',
  ]);
});

test('no text is taken for a URL that leads elsewhere than it says', () => {
  const part = fc.constantFrom(
    'https://',
    'http://',
    'a.example',
    '@',
    '/',
    ':',
    '\\',
    '?',
    '#',
    'x',
    '8',
    '[::1]',
    ' ',
    '%40',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const url = parts.join('');
      const relay = read({ type: 'webhook', url, allow_private: true });
      if (Array.isArray(relay)) return;
      const parsed = new URL(url);
      expect(parsed.username + parsed.password + parsed.search + parsed.hash).toBe('');
      expect(parsed.host.length).toBeGreaterThan(0);
    }),
  );
});
