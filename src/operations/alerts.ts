import { z } from 'zod';
import {
  ALERT_RULE_NAMES,
  ALERT_SEVERITIES,
  ALERT_UNITS,
  type AlertRuleName,
  type AlertSeverity,
  secondsText,
  thresholdText,
} from '../domain/alert-rules.ts';
import {
  choice,
  flag,
  type Given,
  integer,
  Misread,
  readWord,
  type TableForm,
  type Typed,
  text,
} from './command.ts';
import { acts, changes, look, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** Alerts: what the server watches, whom it tells, and what it told (docs/alerts.md). */

const MAX_SECONDS = 7 * 86_400;
const MAX_COOL_DOWN = 86_400;
const MAX_SILENCE_MINUTES = 30 * 24 * 60;

const ruleName = z.enum(ALERT_RULE_NAMES);
const severity = z.enum(ALERT_SEVERITIES);

const noticeView = () =>
  z.strictObject({
    /** The name of the channel; its id, where it is gone. */
    channel: z.string(),
    kind: z.enum(['fired', 'resolved']),
    /** `dropped`: it was over, or the channel was gone, before it could be told. */
    state: z.enum(['pending', 'sent', 'failed', 'dropped']),
    tries: z.number(),
    /** Of the next try while it is pending, else of the last one, RFC 3339. */
    at: z.string(),
    /** Why the last try failed; null: it did not. */
    error: z.string().nullable(),
  });

const alertView = () =>
  z.strictObject({
    /** `alr_…` */
    id: z.string(),
    rule: ruleName,
    title: z.string(),
    /** What it is about, such as `relay:out`; empty: the server. */
    subject: z.string(),
    severity,
    /** What is so, or was so last, as a sentence. */
    text: z.string(),
    /** What to do. */
    advice: z.string(),
    /** `pending`: not for long enough yet. */
    state: z.enum(['pending', 'firing', 'resolved']),
    /** Since when it has been so. */
    since: z.string(),
    firedAt: z.string().nullable(),
    resolvedAt: z.string().nullable(),
    /** When channels were told first; null: nobody was told. */
    toldAt: z.string().nullable(),
    /** Nobody is told of it now, because of a silence. */
    silenced: z.boolean(),
    notices: z.array(noticeView()),
  });

/** An alert as it is shown. */
export type AlertView = Shown<typeof alertView>;

const alertsView = () =>
  z.strictObject({
    alerts: z.array(alertView()),
    /** For the page behind this one; absent: there is none. */
    nextCursor: z.string().optional(),
  });

const ruleView = () =>
  z.strictObject({
    name: ruleName,
    title: z.string(),
    /** When it fires, as a sentence. */
    when: z.string(),
    /** What to do. */
    advice: z.string(),
    enabled: z.boolean(),
    severity,
    /** Null: it has none. */
    threshold: z
      .strictObject({
        value: z.number(),
        unit: z.enum(ALERT_UNITS),
        min: z.number(),
        max: z.number(),
      })
      .nullable(),
    /** How long it must be so before the alert fires. */
    forSeconds: z.number(),
    /** For so long after somebody was told, nobody is told of the same again. */
    coolDownSeconds: z.number(),
    /** Something of it differs from what is declared. */
    changed: z.boolean(),
  });

/** A rule as it is shown. */
export type AlertRuleView = Shown<typeof ruleView>;

const silenceView = () =>
  z.strictObject({
    /** `als_…` */
    id: z.string(),
    /** Null: all rules. */
    rule: ruleName.nullable(),
    /** Null: whatever it is about. */
    subject: z.string().nullable(),
    createdAt: z.string(),
    until: z.string(),
    by: z.string(),
    note: z.string(),
  });

/** A silence as it is shown. */
export type AlertSilenceView = Shown<typeof silenceView>;

const RULE = look<readonly AlertRuleView[]>(
  'alertRules',
  () => ({}),
  (rules, { rule }) => rules.find(({ name }) => name === rule),
);

const RULE_ARGUMENT: Typed<AlertRuleName> = {
  usage: '<rule>',
  meaning: 'the name of a rule, from: waybill alerts rules',
  repeats: false,
  choices: null,
  absent: 'health',
  read: (given) => readWord(String(given), ALERT_RULE_NAMES),
};
/** What is not typed stays as it is. */
const KEEP = { repeats: false, choices: null, absent: undefined } as const;
const SWITCH: Typed<boolean | undefined> = {
  ...KEEP,
  usage: '--on',
  meaning: 'watch it',
  instead: { usage: '--off', meaning: 'do not watch it', value: false },
  read: () => true,
};
const SEVERITY: Typed<AlertSeverity | undefined> = {
  ...KEEP,
  usage: '--severity <severity>',
  meaning: 'how urgent its alerts are',
  choices: ALERT_SEVERITIES,
  read: (given) => readWord(String(given), ALERT_SEVERITIES),
};
const THRESHOLD: Typed<number | undefined> = {
  ...KEEP,
  usage: '--threshold <n>',
  meaning: 'above which value it fires; a certificate: below which',
  read: readNumber,
};

function readNumber(given: Given): number {
  const number = /^\d{1,9}(\.\d{1,4})?$/.test(String(given)) ? Number(given) : Number.NaN;
  if (Number.isNaN(number)) throw new Misread('It must be a number such as 5 or 0.3.');
  return number;
}

const RULE_TABLE: TableForm<AlertRuleView> = {
  columns: {
    RULE: ({ name }) => name,
    STATE: ({ enabled, changed }) => `${enabled ? 'on' : 'off'}${changed ? ' (changed)' : ''}`,
    SEVERITY: (one) => one.severity,
    THRESHOLD: ({ threshold }) => (threshold === null ? '-' : thresholdText(threshold.value, threshold.unit)),
    FOR: ({ forSeconds }) => secondsText(forSeconds),
    TITLE: ({ title }) => title,
  },
  empty: 'There is no rule.',
  fits: true,
};

const SILENCE_TABLE: TableForm<AlertSilenceView> = {
  columns: {
    ID: ({ id }) => id,
    RULE: ({ rule }) => rule ?? 'all',
    ABOUT: ({ subject }) => subject ?? 'anything',
    UNTIL: ({ until }) => until,
    BY: ({ by }) => by,
    NOTE: ({ note }) => note,
  },
  empty: 'Nothing is silenced.',
  fits: true,
};

/** What a person hears of an alert. */
function alertText({
  id,
  state,
  severity: rank,
  since,
  resolvedAt,
  text: said,
  toldAt,
  silenced,
}: AlertView): string {
  const until = resolvedAt === null ? '' : ` to ${resolvedAt}`;
  const whom = toldAt !== null ? '' : silenced ? 'silenced' : 'nobody was told';
  return [id, state, rank, `${since}${until}`, said, whom].filter((word) => word !== '').join('  ');
}

/** What can be asked of alerts, and done to them. */
export const ALERT_OPERATIONS = {
  listAlerts: operation({
    meaning: 'Alerts, the newest first: those that are not over, or all that fired.',
    access: READ,
    request: z.strictObject({
      open: z.boolean().default(false).describe('Only those that are not over, pending ones included.'),
      limit: z.int().min(1).max(200).default(50),
      cursor: z.string().max(100).nullable().default(null).describe('The `nextCursor` of the page before.'),
    }),
    result: alertsView,
    commands: [
      {
        words: 'alerts list',
        summary: 'show alerts that fired, the newest first',
        examples: ['waybill alerts list', 'waybill alerts list --open'],
        takes: {
          open: flag('--open', 'only those that are not over'),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          cursor: text('--cursor <cursor>', 'continue after a page: its nextCursor, from --json', {
            absent: null,
          }),
        },
        prints: ({ alerts, nextCursor }) =>
          alerts.length === 0
            ? 'There are no alerts.'
            : [
                ...alerts.map(alertText),
                ...(nextCursor === undefined ? [] : [`There are more: --cursor ${nextCursor}`]),
              ].join('\n'),
      },
    ],
  }),
  alertRules: operation({
    meaning: 'What the server watches: every rule, and what operators changed of it.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(ruleView()),
    commands: [
      {
        words: 'alerts rules',
        summary: 'show what is watched, and when an alert fires',
        examples: ['waybill alerts rules'],
        takes: {},
        prints: RULE_TABLE,
        json: (rules) => ({ rules }),
      },
    ],
  }),
  changeAlertRule: operation({
    meaning: 'Changes a rule; what is absent stays, and `reset` makes it as declared.',
    access: changes({ words: 'Changed a rule of alerts', subject: 'rule', look: RULE, touches: ['alerts'] }),
    request: z.strictObject({
      rule: ruleName,
      enabled: z.boolean().optional(),
      severity: severity.optional(),
      threshold: z.number().optional(),
      forSeconds: z.int().min(0).max(MAX_SECONDS).optional(),
      coolDownSeconds: z.int().min(0).max(MAX_COOL_DOWN).optional(),
      reset: z.boolean().default(false).describe('It is as declared again, but for what else is given.'),
    }),
    result: ruleView,
    commands: [
      {
        words: 'alerts set',
        summary: 'change when an alert fires, or switch its rule on or off',
        examples: [
          'waybill alerts set mail_late --threshold 300',
          'waybill alerts set refusals --off',
          'waybill alerts set quota --reset',
        ],
        wantsOption: true,
        takes: {
          rule: RULE_ARGUMENT,
          enabled: SWITCH,
          severity: SEVERITY,
          threshold: THRESHOLD,
          forSeconds: integer('--for <seconds>', 'how long it must be so', [0, MAX_SECONDS], {
            absent: undefined,
          }),
          coolDownSeconds: integer(
            '--cool-down <seconds>',
            'for how long nobody is told of the same again',
            [0, MAX_COOL_DOWN],
            { absent: undefined },
          ),
          reset: flag('--reset', 'make it as it was declared'),
        },
        prints: RULE_TABLE,
      },
    ],
  }),
  alertSilences: operation({
    meaning: 'Alerts that nobody is told of for a while.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(silenceView()),
    commands: [
      {
        words: 'alerts silences',
        summary: 'show which alerts nobody is told of',
        examples: ['waybill alerts silences'],
        takes: {},
        prints: SILENCE_TABLE,
        json: (silences) => ({ silences }),
      },
    ],
  }),
  silenceAlerts: operation({
    meaning:
      'Tells nobody of some alerts for a while. They are still watched, and shown; that one is over is told.',
    access: acts({ words: 'Silenced alerts', subject: 'rule', touches: ['alerts'] }),
    request: z.strictObject({
      rule: ruleName.nullable().default(null).describe('Null: all rules.'),
      subject: z
        .string()
        .max(500)
        .nullable()
        .default(null)
        .describe('Such as `relay:out`; null: whatever it is about.'),
      minutes: z.int().min(1).max(MAX_SILENCE_MINUTES),
      note: z.string().max(500).default(''),
    }),
    result: silenceView,
    commands: [
      {
        words: 'alerts silence',
        summary: 'tell nobody of some alerts for a while',
        examples: [
          'waybill alerts silence --minutes 120 --note "Moving the database"',
          'waybill alerts silence relay_resting --subject relay:out --minutes 60',
        ],
        takes: {
          rule: choice('[rule]', 'the name of a rule (default: all)', ALERT_RULE_NAMES, { absent: null }),
          subject: text('--subject <subject>', 'only what it is about, such as relay:out', { absent: null }),
          minutes: integer('--minutes <n>', 'for how long', [1, MAX_SILENCE_MINUTES], { absent: 60 }),
          note: text('--note <text>', 'why, for others', { absent: '' }),
        },
        prints: SILENCE_TABLE,
      },
    ],
  }),
  endAlertSilence: operation({
    meaning: 'Ends a silence.',
    access: acts({ words: 'Ended a silence of alerts', subject: 'id', touches: ['alerts'] }),
    request: z.strictObject({ id: z.string().min(1).max(100) }),
    result: () => z.strictObject({ ended: z.string() }),
    commands: [
      {
        words: 'alerts unsilence',
        summary: 'end a silence',
        examples: ['waybill alerts unsilence als_01k9f5y7f0e2c4a8b6d0e2f4g6'],
        takes: { id: text('<id>', 'the id of a silence, from: waybill alerts silences') },
        prints: ({ ended }) => `Ended: ${ended}.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type AlertOperations = OperationsOf<typeof ALERT_OPERATIONS>;
