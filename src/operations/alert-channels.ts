import { z } from 'zod';
import { CHANNEL_KINDS } from '../domain/alert-channel.ts';
import { ALERT_RULE_NAMES, ALERT_SEVERITIES } from '../domain/alert-rules.ts';
import { choice, fixed, list, type TableForm, text, wordList } from './command.ts';
import { CONFIDENTIAL, changes, look, type OperationsOf, operation, type Shown } from './operation.ts';

/** Channels: whom alerts are told to (docs/alerts.md). */

const ruleName = z.enum(ALERT_RULE_NAMES);
const severity = z.enum(ALERT_SEVERITIES);
const channelName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 of a-z 0-9 - _');
const which = z.string().min(1).max(100).describe('The name of a channel, or its id, `alc_…`.');

const channelView = () =>
  z.strictObject({
    /** `alc_…` */
    id: z.string(),
    name: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    /** Of `webhook`, `ntfy` and `pagerduty`; of others the URL is the secret. */
    url: z.string().nullable(),
    to: z.array(z.string()),
    from: z.string().nullable(),
    relay: z.string().nullable(),
    /** Its secret is kept; it is never shown. */
    hasSecret: z.boolean(),
    enabled: z.boolean(),
    severity,
    rules: z.array(ruleName),
    createdAt: z.string(),
    updatedAt: z.string(),
  });

/** A channel as it is shown. */
export type AlertChannelView = Shown<typeof channelView>;

const channelSecretView = () =>
  z.strictObject({
    channel: channelView(),
    /** Of a webhook, made by us: `whsec_…`, shown this once. Null: there is none, or it was given. */
    secret: z.string().nullable(),
  });

const DEFINITION = {
  url: z
    .string()
    .max(2_000)
    .nullable()
    .default(null)
    .describe(
      'Of `webhook` where to post, of `ntfy` the topic, such as https://ntfy.sh/our-topic; of `pagerduty` another region’s.',
    ),
  secret: z
    .string()
    .max(2_000)
    .nullable()
    .default(null)
    .describe(
      'Of `slack`, `discord` and `teams` the URL that they gave, of `pagerduty` the integration key, of `ntfy` an access token; of `webhook` null: one is made.',
    ),
  to: z.array(z.string().min(1).max(320)).max(20).default([]).describe('The recipients of `mail`.'),
  from: z
    .string()
    .max(320)
    .nullable()
    .default(null)
    .describe('The sender of `mail`; null: the postmaster of this server.'),
  relay: z
    .string()
    .max(64)
    .nullable()
    .default(null)
    .describe(
      'The relay that `mail` goes by, unless the alert is about it or it fails; null: the first one that is well.',
    ),
  enabled: z.boolean().default(true),
  severity: severity.default('warning').describe('It is told of alerts of this severity and above.'),
  rules: z
    .array(ruleName)
    .max(ALERT_RULE_NAMES.length)
    .default([])
    .describe('Only of these rules; empty: of all.'),
};

const CHANNEL = look<readonly AlertChannelView[]>(
  'alertChannels',
  () => ({}),
  (channels, { which: name, name: added }) =>
    channels.find((one) => [name, added].includes(one.name) || one.id === name),
);

const WHICH = text('<channel>', 'the name of a channel, from: waybill alerts channels');
const SEVERITY = choice('--severity <severity>', 'tell it of this severity and above', ALERT_SEVERITIES, {
  absent: 'warning',
});
const RULES = wordList(
  '--rule <rule>',
  'tell it of this rule alone; may be given several times',
  ALERT_RULE_NAMES,
  { absent: [] },
);

const CHANNEL_TABLE: TableForm<AlertChannelView> = {
  columns: {
    NAME: ({ name }) => name,
    KIND: ({ kind }) => kind,
    STATE: ({ enabled }) => (enabled ? 'on' : 'off'),
    SEVERITY: (one) => `${one.severity} and above`,
    TO: ({ to, url, hasSecret }) => (to.length > 0 ? to.join(' ') : (url ?? (hasSecret ? '(secret)' : '-'))),
  },
  empty: 'Nobody is told of alerts. Add a channel: waybill alerts add --help',
  fits: true,
};

/** What can be asked of channels, and done to them. */
export const ALERT_CHANNEL_OPERATIONS = {
  alertChannels: operation({
    meaning: 'Whom alerts are told to; without secrets.',
    access: CONFIDENTIAL,
    request: z.strictObject({}),
    result: () => z.array(channelView()),
    commands: [
      {
        words: 'alerts channels',
        summary: 'show whom alerts are told to',
        examples: ['waybill alerts channels'],
        takes: {},
        prints: CHANNEL_TABLE,
        json: (channels) => ({ channels }),
      },
    ],
  }),
  addAlertChannel: operation({
    meaning: 'Adds a channel, which is told of alerts from now on, those that fire already among them.',
    access: changes({
      words: 'Added a channel of alerts',
      subject: 'name',
      look: CHANNEL,
      hide: ['secret'],
      touches: ['alerts'],
    }),
    request: z.strictObject({ name: channelName, kind: z.enum(CHANNEL_KINDS), ...DEFINITION }),
    result: channelSecretView,
    commands: [
      {
        words: 'alerts add',
        summary: 'tell alerts to somebody: by mail, a webhook, Slack, Discord, Teams, ntfy or PagerDuty',
        examples: [
          'waybill alerts add ops mail --to ops@example.com',
          'waybill alerts add chat slack --secret-file slack-url.txt',
          'waybill alerts add phone ntfy --url https://ntfy.sh/our-topic --severity critical',
        ],
        takes: {
          name: text('<name>', 'its name, of your choice'),
          kind: choice('<kind>', `one of ${CHANNEL_KINDS.join(', ')}`, CHANNEL_KINDS, { absent: 'mail' }),
          url: text('--url <url>', 'of a webhook where to post; of ntfy the topic', { absent: null }),
          secret: text(
            '--secret-file <file>',
            'the file with the URL that Slack, Discord or Teams gave, PagerDuty’s integration key, or ntfy’s access token; - is standard input',
            { absent: null },
          ),
          to: list('--to <address>', 'a recipient of mail; may be given several times', { absent: [] }),
          from: text('--from <address>', 'the sender of mail (default: the postmaster)', { absent: null }),
          relay: text('--relay <name>', 'the relay that mail goes by, unless it is the one that fails', {
            absent: null,
          }),
          enabled: fixed(true),
          severity: SEVERITY,
          rules: RULES,
        },
        prints: ({ channel, secret }) =>
          secret === null
            ? `Added: ${channel.name}. Try it: waybill alerts test ${channel.name}`
            : `Added: ${channel.name}.\nSecret: ${secret}\nIt is not shown again: give it to whoever verifies the signatures.`,
      },
    ],
  }),
  changeAlertChannel: operation({
    meaning: 'Changes a channel as a whole; a secret that is absent or null stays.',
    access: changes({
      words: 'Changed a channel of alerts',
      subject: 'which',
      look: CHANNEL,
      hide: ['secret'],
      touches: ['alerts'],
    }),
    request: z.strictObject({ which, name: channelName, ...DEFINITION }),
    result: channelView,
  }),
  enableAlertChannel: operation({
    meaning: 'Switches a channel on or off.',
    access: changes({
      words: 'Switched a channel of alerts on or off',
      subject: 'which',
      look: CHANNEL,
      touches: ['alerts'],
    }),
    request: z.strictObject({ which, enabled: z.boolean() }),
    result: channelView,
    commands: [
      {
        words: 'alerts enable',
        summary: 'tell a channel of alerts again',
        examples: ['waybill alerts enable ops'],
        takes: { which: WHICH, enabled: fixed(true) },
        prints: ({ name }) => `${name} is told of alerts.`,
      },
      {
        words: 'alerts disable',
        summary: 'tell a channel nothing until it is enabled again',
        examples: ['waybill alerts disable ops'],
        takes: { which: WHICH, enabled: fixed(false) },
        prints: ({ name }) => `${name} is told nothing.`,
      },
    ],
  }),
  removeAlertChannel: operation({
    meaning: 'Removes a channel. What it was still to be told is dropped.',
    access: changes({
      words: 'Removed a channel of alerts',
      subject: 'which',
      look: CHANNEL,
      touches: ['alerts'],
    }),
    request: z.strictObject({ which }),
    result: () => z.strictObject({ removed: z.string() }),
    commands: [
      {
        words: 'alerts remove',
        summary: 'tell a channel nothing any more',
        examples: ['waybill alerts remove ops'],
        takes: { which: WHICH },
        prints: ({ removed }) => `Removed: ${removed}.`,
      },
    ],
  }),
  testAlertChannel: operation({
    meaning: 'Tells a channel that this is a test, and says whether it took that.',
    access: changes({ words: 'Tested a channel of alerts', subject: 'which', touches: [] }),
    request: z.strictObject({ which }),
    result: () =>
      z.strictObject({
        channel: z.string(),
        ok: z.boolean(),
        /** Why it did not; null: it did. */
        error: z.string().nullable(),
      }),
    commands: [
      {
        words: 'alerts test',
        summary: 'tell a channel that this is a test, and say whether it took it',
        examples: ['waybill alerts test ops'],
        takes: { which: WHICH },
        prints: ({ channel, error }) =>
          error === null ? `${channel} took the test.` : `${channel} did not take the test: ${error}`,
        isBad: ({ ok }) => !ok,
      },
    ],
  }),
};

/** Those who carry them out. */
export type AlertChannelOperations = OperationsOf<typeof ALERT_CHANNEL_OPERATIONS>;
