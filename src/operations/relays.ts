import { z } from 'zod';
import { FORM_KINDS, isRecord } from '../config/kinds.ts';
import { FIELD_GROUPS } from '../config/relay-field.ts';
import { SECRET_FIELDS } from '../config/relay-fields.ts';
import { LANE_STATES } from '../domain/lane.ts';
import { fixed, text } from './command.ts';
import { changes, look, type OperationsOf, operation, READ, type Shown, type Topic } from './operation.ts';

const secrets = Object.fromEntries(SECRET_FIELDS.map((name) => [name, z.string()]));
const secret = z
  .union([z.string(), z.strictObject(secrets).partial().readonly()])
  .nullable()
  .describe('The password or secret; if there are several, by the names of their fields; null for none.');
const definition = z
  .record(z.string(), z.unknown())
  .describe('As in the configuration file, but without password and secrets.');

const relayView = () =>
  z.strictObject({
    name: z.string(),
    type: z.string(),
    origin: z.string(),
    /** Where it connects to; null for the inbox and for `mx`, which asks the DNS. */
    host: z.string().nullable(),
    port: z.number().nullable(),
    tls: z.string().nullable(),
    verify: z.boolean().nullable(),
    username: z.string().nullable(),
    /** The URL of a provider's API, or of a webhook; null for others. */
    endpoint: z.string().nullable(),
    /** Mail goes here unless told otherwise. */
    isDefault: z.boolean(),
    disabled: z.boolean(),
    /** What an operator wants of it, and how its next hop does; of type `mx`, all lanes together. */
    state: z.enum(LANE_STATES),
    rest: restView().nullable(),
    /** Its stored password or secret cannot be read with the present key. */
    credentialsUnreadable: z.boolean(),
    /** Recipients waiting and being attempted. */
    waiting: z.number(),
    processing: z.number(),
    /** Recipients it may have in a UTC day; 0 means any number. */
    maxPerDay: z.number(),
    warmUp: warmUpView().nullable(),
    /** Recipients it may have today, by quota and warm-up; null means any number. */
    allowedToday: z.number().nullable(),
    /** How many of them were handed over or are under way; null where nobody counts. */
    usedToday: z.number().nullable(),
  });

/** Why a relay rests, or is being probed; null for one that does not. */
export const restView = () =>
  z.strictObject({
    /** In short, such as `auth_failed 535 5.7.8`; null where that is not known. */
    cause: z.string().nullable(),
    /** What its next hop said that it rests for; written by a stranger. */
    reply: z
      .strictObject({
        code: z.number().nullable(),
        enhancedCode: z.string().nullable(),
        reply: z.string(),
        at: z.string(),
      })
      .nullable(),
    /** Since when its next hop has failed. */
    since: z.string().nullable(),
    /** When it is tried again; null while single attempts test it. */
    until: z.string().nullable(),
  });

/** See {@link restView}. */
export type RestView = Shown<typeof restView>;

/** A relay without its secret. */
export type RelayView = Shown<typeof relayView>;

const warmUpView = () =>
  z.strictObject({
    /** Its first day in UTC, such as `2026-12-01`. */
    start: z.string(),
    /** How many days it takes. */
    days: z.number(),
    /** Which of them today is, from 1 on; 0 before the first, null after the last. */
    day: z.number().nullable(),
    /** It begins so late that mail which is accepted now expires before. */
    outlivesMail: z.boolean(),
  });

/** How far a relay's warm-up is. */
export type WarmUpView = Shown<typeof warmUpView>;

const limitsView = () =>
  z.strictObject({
    maxConcurrency: z.number(),
    /** 0 means no limit. */
    maxRatePerSecond: z.number(),
    /** Of type `mx`; null for others. */
    maxPerDomain: z.number().nullable(),
    maxRecipients: z.number(),
    /** 0 means no limit of ours. */
    maxMessageBytes: z.number(),
  });

/** What a relay keeps to; the recipients of a day stand beside. */
export type LimitsView = Shown<typeof limitsView>;

const relaySwitch = () =>
  relayView().extend({
    /** It was otherwise before. */
    changed: z.boolean(),
  });

/** A relay as it was left. */
export type RelaySwitch = Shown<typeof relaySwitch>;

/** A step of a test connection. */
export const probeStep = () =>
  z.strictObject({
    /**
     * `RESOLVE`, `CONNECT`, `TLS`, an SMTP verb, or `CHECK` of a provider's credentials; `READY` for the good end, else the
     * failure's cause.
     */
    name: z.string(),
    /** What to search for, of a step that failed: `connect_refused`, `provider_401`. */
    code: z.string().optional(),
    /** False for a step that failed. A test may go on after one, by another way: its last step tells how it ended. */
    ok: z.boolean(),
    detail: z.string(),
    /** Milliseconds since the test began. */
    atMs: z.number(),
  });

const relayTest = () =>
  z.strictObject({
    ok: z.boolean(),
    steps: z.array(probeStep()),
  });

/** What a test connection went through. */
export type RelayTest = Shown<typeof relayTest>;

const relayDetail = () =>
  relayView().extend({
    /** As in the configuration file, without secrets; null for the inbox. */
    definition: z.record(z.string(), z.unknown()).nullable(),
    hasSecret: z.boolean(),
    /** The secret of its webhooks is stored. */
    hasWebhookSecret: z.boolean(),
    /** Its provider has webhooks, see `relayHook`. */
    hasHook: z.boolean(),
    /** In force, given or usual; null where it cannot be used. */
    limits: limitsView().nullable(),
    /** Rests and recoveries of its lanes on this node since it started, newest first; a bounded number. */
    history: z.array(relayHappening()),
    /** Rules of routing that name it. */
    rules: z.array(z.string()),
    /** Whom a test message comes from, unless somebody else is named, see `sendTestMessage`. */
    testSender: z.string(),
  });

/** A relay with its definition and what its hops went through lately. */
export type RelayDetail = Shown<typeof relayDetail>;

/** A rest or a recovery. */
const relayHappening = () =>
  z.strictObject({
    at: z.string(),
    lane: z.string(),
    kind: z.enum(['rested', 'recovered']),
    /** How long it rests, in ms, and why; null for a recovery. */
    pauseMs: z.number().nullable(),
    cause: z.string().nullable(),
  });

const relayForm = () =>
  z.strictObject({
    type: z.string(),
    /** What people call it, such as `Amazon SES`. */
    title: z.string(),
    /** One sentence: what it is for. */
    summary: z.string(),
    /** Where its credentials are found, and other things to know, in plain sentences. */
    help: z.array(z.string()),
    fields: z.array(relayFormField()),
  });

/** The form of a type of relay. */
export type RelayForm = Shown<typeof relayForm>;

const relayFormField = () =>
  z.strictObject({
    name: z.string(),
    label: z.string(),
    kind: z.enum([...FORM_KINDS, 'secret']),
    choices: z.array(z.string()),
    /** Of what kind the items of a list are; null for no list. */
    items: z.enum(FORM_KINDS).nullable(),
    /** What a number counts; null where it is no measure. */
    unit: z.string().nullable(),
    required: z.boolean(),
    meaning: z.string(),
    /** As it is without; null for none. */
    defaultValue: z.unknown(),
    /** Not always needed: sign-in by OAuth, connection, limits or pace, to be shown folded. */
    group: z.enum(FIELD_GROUPS),
    /** Another value sends the secret elsewhere, so that it is to be given anew. */
    binds: z.boolean(),
  });

/** A field of a definition. */
export type RelayFormField = Shown<typeof relayFormField>;

/** A relay by its name: what can be changed of it. */
const RELAY = look<RelayDetail>(
  'relay',
  ({ name, definition }) => ({ name: name ?? (isRecord(definition) ? definition['name'] : undefined) }),
  ({ name, type, definition, hasSecret, hasWebhookSecret, disabled, isDefault }) => ({
    name,
    type,
    definition,
    hasSecret,
    hasWebhookSecret,
    disabled,
    isDefault,
  }),
);

/** What shows relays, or where mail goes by them. */
const RELAY_TOPICS: readonly Topic[] = ['relays', 'routes', 'queue', 'settings'];

/** How a relay is named on the command line. */
const WHICH = text('<name>', "the relay's name");

/** What is said of a relay that was disabled. */
function disabledText({ name, changed, isDefault, waiting, processing }: RelaySwitch): string {
  const enable = `waybill relays enable ${name}`;
  return [
    changed ? `Disabled ${name}: it sends nothing more.` : `${name} is already disabled.`,
    processing > 0 ? `Attempts in progress finish (recipients: ${processing}).` : '',
    `Its mail goes to the next relay of its group, or waits (recipients now: ${waiting}).`,
    isDefault ? 'It is the default relay: mail that no rule sends elsewhere waits, too.' : '',
    `To use it again: ${enable}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** What operators can ask of relays, and do to them. */
export const RELAY_OPERATIONS = {
  relays: operation({
    meaning: 'Every relay, and how much waits for it.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(relayView()),
    commands: [
      {
        words: 'relays list',
        summary: 'show all relays and how much waits for them',
        examples: ['waybill relays list'],
        takes: {},
      },
    ],
  }),
  addRelay: operation({
    meaning: 'Stores a relay and starts using it.',
    access: changes({
      words: 'Added a relay',
      subject: 'definition.name',
      look: RELAY,
      hide: ['secret'],
      touches: RELAY_TOPICS,
    }),
    request: z.strictObject({
      definition,
      secret,
      makeDefault: z.boolean().describe('Mail that no rule routes goes through it from now on.'),
    }),
    result: relayView,
  }),
  checkRelay: operation({
    meaning: 'Checks a definition before its secret is asked for; stores nothing. Fails as adding it would.',
    access: READ,
    request: z.strictObject({
      definition,
      makeDefault: z.boolean().nullable().describe('As for `addRelay`; null if it is only to be tested.'),
    }),
    result: () =>
      z.strictObject({
        name: z.string(),
      }),
  }),
  relay: operation({
    meaning: "A stored relay's definition, to be changed; never its secret.",
    access: READ,
    request: z.strictObject({ name: z.string() }),
    result: relayDetail,
  }),
  updateRelay: operation({
    meaning:
      'Replaces the definition of a stored relay. Another host, port, type or verification needs the secret again.',
    access: changes({
      words: 'Changed a relay',
      subject: 'name',
      look: RELAY,
      hide: ['secret'],
      touches: RELAY_TOPICS,
    }),
    request: z.strictObject({
      name: z.string(),
      definition,
      secret: secret.describe('Null keeps the present one, where that is allowed.'),
    }),
    result: relayView,
  }),
  relayForms: operation({
    meaning: 'Every type of relay with the fields of its definition and what they mean.',
    access: READ,
    request: z.strictObject({}),
    result: () => z.array(relayForm()),
  }),
  switchRelay: operation({
    meaning: 'Disables a stored relay, so that it sends nothing, or enables it again.',
    access: changes({
      words: 'Switched a relay on or off',
      subject: 'name',
      look: RELAY,
      touches: RELAY_TOPICS,
    }),
    request: z.strictObject({ name: z.string(), disabled: z.boolean() }),
    result: relaySwitch,
    commands: [
      {
        words: 'relays disable',
        summary: 'stop sending through a relay until it is enabled; its mail moves or waits',
        examples: ['waybill relays disable out'],
        takes: { name: WHICH, disabled: fixed(true) },
        prints: disabledText,
      },
      {
        words: 'relays enable',
        summary: 'use a disabled relay again',
        examples: ['waybill relays enable out'],
        takes: { name: WHICH, disabled: fixed(false) },
        prints: ({ name, changed }) =>
          changed ? `Enabled ${name}. Waiting mail is sent.` : `${name} was not disabled.`,
      },
    ],
  }),
  removeRelay: operation({
    meaning: 'Removes a stored relay that no mail waits for.',
    access: changes({ words: 'Removed a relay', subject: 'name', look: RELAY, touches: RELAY_TOPICS }),
    request: z.strictObject({ name: z.string() }),
    result: relayView,
    commands: [
      {
        words: 'relays remove',
        summary: 'remove a relay that no mail waits for',
        examples: ['waybill relays remove out'],
        takes: { name: WHICH },
        cures: true,
        prints: ({ name }) => `Removed ${name}.`,
      },
    ],
  }),
  testRelay: operation({
    meaning: 'Connects to a relay without sending anything, and reports each step as it happens.',
    access: changes({ words: 'Tested a relay', subject: 'name', hide: ['unsaved'], touches: [] }),
    request: z.strictObject({
      name: z.string(),
      to: z
        .string()
        .nullable()
        .describe('Whose mail servers to try, for a relay of type `mx`; null for others.'),
      unsaved: z
        .strictObject({ definition, secret })
        .nullable()
        .describe(
          'A definition that is not stored, to test instead of a stored relay; null: the relay of that name.',
        ),
    }),
    result: relayTest,
    step: probeStep,
  }),
};

/** Those who carry them out. */
export type RelayOperations = OperationsOf<typeof RELAY_OPERATIONS>;
