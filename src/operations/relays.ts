import { z } from 'zod';
import type { FormKind } from '../config/kinds.ts';
import type { FieldGroup } from '../config/relay-field.ts';
import { SECRET_FIELDS } from '../config/relay-fields.ts';
import type { LaneState } from '../domain/lane.ts';
import type { ProbeStep } from '../transport/transport.ts';
import { fixed, text } from './command.ts';
import { changes, isRecord, look, type OperationsOf, operation, READ, type Topic } from './operation.ts';

const secrets = Object.fromEntries(SECRET_FIELDS.map((name) => [name, z.string()]));
/** The secret of a definition, or by the names of their fields those of one that has several; null for none. */
const secret = z.union([z.string(), z.strictObject(secrets).partial().readonly()]).nullable();
/** A definition as in the configuration file, without its password or secret, which is given apart. */
const definition = z.record(z.string(), z.unknown());

/** A relay without its secret. */
export interface RelayView {
  readonly name: string;
  readonly type: string;
  readonly origin: string;
  /** Where it connects to; null for the inbox and for `mx`, which asks the DNS. */
  readonly host: string | null;
  readonly port: number | null;
  readonly tls: string | null;
  readonly verify: boolean | null;
  readonly username: string | null;
  /** The URL of a provider's API, or of a webhook; null for others. */
  readonly endpoint: string | null;
  /** Mail goes here unless told otherwise. */
  readonly isDefault: boolean;
  readonly disabled: boolean;
  /** What an operator wants of it, and how its next hop does; of type `mx`, all lanes together. */
  readonly state: LaneState;
  /** Its stored password or secret cannot be read with the present key. */
  readonly credentialsUnreadable: boolean;
  /** Recipients waiting and being attempted. */
  readonly waiting: number;
  readonly processing: number;
  /** Recipients it may have in a UTC day; 0 means any number. */
  readonly maxPerDay: number;
  readonly warmUp: WarmUpView | null;
  /** Recipients it may have today, by quota and warm-up; null means any number. */
  readonly allowedToday: number | null;
  /** How many of them were handed over or are under way; null where nobody counts. */
  readonly usedToday: number | null;
}

/** How far a relay's warm-up is. */
export interface WarmUpView {
  /** Its first day in UTC, such as `2026-12-01`. */
  readonly start: string;
  /** How many days it takes. */
  readonly days: number;
  /** Which of them today is, from 1 on; 0 before the first, null after the last. */
  readonly day: number | null;
  /** It begins so late that mail which is accepted now expires before. */
  readonly outlivesMail: boolean;
}

/** What a relay keeps to; the recipients of a day stand beside. */
export interface LimitsView {
  readonly maxConcurrency: number;
  /** 0 means no limit. */
  readonly maxRatePerSecond: number;
  /** Of type `mx`; null for others. */
  readonly maxPerDomain: number | null;
  readonly maxRecipients: number;
  /** 0 means no limit of ours. */
  readonly maxMessageBytes: number;
}

/** A relay as it was left. */
export interface RelaySwitch extends RelayView {
  /** It was otherwise before. */
  readonly changed: boolean;
}

/** What a test connection went through. */
export interface RelayTest {
  readonly ok: boolean;
  readonly steps: readonly ProbeStep[];
}

/** A relay with its definition and what its hops went through lately. */
export interface RelayDetail extends RelayView {
  /** As in the configuration file, without secrets; null for the inbox. */
  readonly definition: Readonly<Record<string, unknown>> | null;
  readonly hasSecret: boolean;
  /** In force, given or usual; null where it cannot be used. */
  readonly limits: LimitsView | null;
  /** Rests and recoveries of its lanes on this node since it started, newest first; a bounded number. */
  readonly history: readonly RelayHappening[];
  /** Rules of routing that name it. */
  readonly rules: readonly string[];
}

/** A rest or a recovery. */
export interface RelayHappening {
  readonly at: string;
  readonly lane: string;
  readonly kind: 'rested' | 'recovered';
  /** How long it rests, in ms, and why; null for a recovery. */
  readonly pauseMs: number | null;
  readonly cause: string | null;
}

/** The form of a type of relay. */
export interface RelayForm {
  readonly type: string;
  /** What people call it, such as `Amazon SES`. */
  readonly title: string;
  /** One sentence: what it is for. */
  readonly summary: string;
  /** Where its credentials are found, and other things to know, in plain sentences. */
  readonly help: readonly string[];
  readonly fields: readonly RelayFormField[];
}

/** A field of a definition. */
export interface RelayFormField {
  readonly name: string;
  readonly label: string;
  readonly kind: FormKind['kind'] | 'secret';
  readonly choices: readonly string[];
  /** Of what kind the items of a list are; null for no list. */
  readonly items: FormKind['items'];
  /** What a number counts; null where it is no measure. */
  readonly unit: string | null;
  readonly required: boolean;
  readonly meaning: string;
  /** As it is without; null for none. */
  readonly defaultValue: unknown;
  /** Not always needed: sign-in by OAuth, connection, limits or pace, to be shown folded. */
  readonly group: FieldGroup;
  /** Another value sends the secret elsewhere, so that it is to be given anew. */
  readonly binds: boolean;
}

/** A relay by its name: what can be changed of it. */
const RELAY = look<RelayDetail>(
  'relay',
  ({ name, definition }) => ({ name: name ?? (isRecord(definition) ? definition['name'] : undefined) }),
  ({ name, type, definition, hasSecret, disabled, isDefault }) => ({
    ...{ name, type, definition, hasSecret, disabled, isDefault },
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
    result: z.custom<readonly RelayView[]>(),
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
    request: z.strictObject({ definition, secret, makeDefault: z.boolean() }),
    result: z.custom<RelayView>(),
  }),
  checkRelay: operation({
    meaning:
      'Finds what is wrong with a definition, before its secret is asked for; stores nothing. Throws as adding it would.',
    access: READ,
    /** `makeDefault` as for `addRelay`; null where it is only to be tried. */
    request: z.strictObject({ definition, makeDefault: z.boolean().nullable() }),
    result: z.custom<{ readonly name: string }>(),
  }),
  relay: operation({
    meaning: "A stored relay's definition, to be changed; never its secret.",
    access: READ,
    request: z.strictObject({ name: z.string() }),
    result: z.custom<RelayDetail>(),
    commands: [
      {
        words: 'relays show',
        summary: 'show a relay: its definition, its rules, and when its hops rested',
        examples: ['waybill relays show out'],
        takes: { name: WHICH },
      },
    ],
  }),
  updateRelay: operation({
    meaning:
      "Puts another definition in the place of a stored relay's. Another host, port, type or verification needs the secret anew.",
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
      /** Null keeps the present one, where that is allowed. */
      secret,
    }),
    result: z.custom<RelayView>(),
  }),
  relayForms: operation({
    meaning: 'Every type of relay with the fields of its definition and what they mean.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly RelayForm[]>(),
  }),
  switchRelay: operation({
    meaning: 'Disables a stored relay, so that nothing is sent by it, or enables it again.',
    access: changes({
      words: 'Switched a relay on or off',
      subject: 'name',
      look: RELAY,
      touches: RELAY_TOPICS,
    }),
    request: z.strictObject({ name: z.string(), disabled: z.boolean() }),
    result: z.custom<RelaySwitch>(),
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
    meaning: 'Forgets a stored relay that no mail waits for.',
    access: changes({ words: 'Removed a relay', subject: 'name', look: RELAY, touches: RELAY_TOPICS }),
    request: z.strictObject({ name: z.string() }),
    result: z.custom<RelayView>(),
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
    meaning: 'Connects to a relay without sending anything, and tells of each step as it happens.',
    access: changes({ words: 'Tested a relay', subject: 'name', hide: ['unsaved'], touches: [] }),
    request: z.strictObject({
      name: z.string(),
      /** Whose mail servers to try, for a relay of type `mx`; null for others. */
      to: z.string().nullable(),
      /** A definition that is not stored, to be tried in the place of a relay that is there; null: the relay of that name. */
      unsaved: z.strictObject({ definition, secret }).nullable(),
    }),
    result: z.custom<RelayTest>(),
    step: z.custom<ProbeStep>(),
  }),
};

/** Those who carry them out. */
export type RelayOperations = OperationsOf<typeof RELAY_OPERATIONS>;
