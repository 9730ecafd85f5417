import { z } from 'zod';
import type { FormKind } from '../config/kinds.ts';
import type { SettingGroup } from '../config/setting.ts';
import { changes, isRecord, look, type OperationsOf, operation, READ } from './operation.ts';

const key = z.string().max(100);
/** More than there are settings. */
const MAX_UNSET = 1000;

/** The settings that a refused source can be added to. */
export const ALLOW_LISTS = ['listener.allowed_cidrs', 'api.allowed_cidrs', 'webui.allowed_cidrs'] as const;

/** A setting of the table, as it is shown. */
export interface SettingRow {
  readonly key: string;
  readonly label: string;
  /** The part of the settings that shows it. */
  readonly group: SettingGroup;
  /** Left as it is by most. */
  readonly seldom: boolean;
  readonly meaning: string;
  readonly kind: FormKind['kind'] | 'secret';
  /** Of kind `choice`. */
  readonly choices: readonly string[];
  /** Of what kind the items of a list are; null for no list. */
  readonly items: FormKind['items'];
  /** What a number counts; null where it is no measure. */
  readonly unit: string | null;
  /** How a number is written with another unit; null where it is not. */
  readonly examples: string | null;
  /** May be without a value. */
  readonly nullable: boolean;
  /** What holds without a value, in a few words; null where it always has one. */
  readonly none: string | null;
  /** In force; masked where secret. */
  readonly value: unknown;
  readonly defaultValue: unknown;
  readonly origin: 'environment' | 'file' | 'stored' | 'default';
  /** Which file or variable, for people. */
  readonly source: string;
  /** File or environment set it, or it can be set nowhere else: why; null where it can be changed here. */
  readonly locked: string | null;
  readonly applies: 'live' | 'restart';
  /** What it will be after a restart; absent where that is the same. */
  readonly afterRestart?: unknown;
}

/** A certificate as shown. Times are RFC 3339. */
export interface CertificateView {
  /** `self-signed`: ours; `uploaded`: by `putCertificate`; `file`: `tls.cert_file`. */
  readonly origin: 'self-signed' | 'uploaded' | 'file';
  readonly subject: string;
  readonly issuer: string;
  readonly names: readonly string[];
  readonly validFrom: string;
  readonly validUntil: string;
  /** Whole days until then; negative when it has expired. */
  readonly daysLeft: number;
  /** SHA-256, as browsers show it. */
  readonly fingerprint: string;
}

/** A source that was refused. */
export interface DeniedSource {
  readonly sourceAddress: string;
  /** The code of the refusal. */
  readonly reason: string;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Where it could be allowed; null where that is no matter of addresses. */
  readonly setting: (typeof ALLOW_LISTS)[number] | null;
}

/** The settings that are given, by key. */
const SETTINGS_GIVEN = look<readonly SettingRow[]>(
  'settings',
  () => ({}),
  (rows, { values, unset, setting }) => {
    const taken: readonly unknown[] = Array.isArray(unset) ? unset : [];
    const keys = isRecord(values) ? [...Object.keys(values), ...taken] : [setting];
    const given = rows.filter(({ key }) => keys.includes(key));
    return Object.fromEntries(given.map((row) => [row.key, { value: row.value, origin: row.origin }]));
  },
);

/** The certificate in use. */
const CERTIFICATE = look<CertificateView>(
  'certificate',
  () => ({}),
  ({ origin, subject, names, validUntil, fingerprint }) => ({
    ...{ origin, subject, names, validUntil, fingerprint },
  }),
);

/** What operators can ask of settings, the certificate and refused sources, and do to them. */
export const SETTINGS_OPERATIONS = {
  settings: operation({
    meaning: 'Every setting of the table, with its value and where that comes from.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly SettingRow[]>(),
  }),
  putSettings: operation({
    meaning:
      'Stores values, and takes stored ones away, all or none. What file or environment set is refused, and what would shut out whoever asks.',
    access: changes({
      words: 'Changed settings',
      subject: null,
      look: SETTINGS_GIVEN,
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({
      /** By key; values as in the configuration file: null is a value too, such as of a port that is switched off. */
      values: z.record(key, z.unknown()),
      /** Keys whose stored values are taken away: they are then as they are without. */
      unset: z.array(key).max(MAX_UNSET).optional(),
    }),
    result: z.custom<readonly SettingRow[]>(),
  }),
  certificate: operation({
    meaning: 'The certificate that is shown to clients.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<CertificateView>(),
  }),
  putCertificate: operation({
    meaning:
      'Puts an uploaded certificate and its key in the place of the present one. Refused where a file is configured.',
    access: changes({
      words: 'Uploaded a certificate',
      subject: null,
      look: CERTIFICATE,
      hide: ['key', 'certificate'],
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({
      /** PEM: the certificate and those between it and the root. */
      certificate: z.string().max(256 * 1024),
      /** PEM; not encrypted. */
      key: z.string().max(64 * 1024),
    }),
    result: z.custom<CertificateView>(),
  }),
  renewCertificate: operation({
    meaning: 'Makes a new self-signed certificate, also in the place of an uploaded one.',
    access: changes({
      words: 'Renewed the certificate',
      subject: null,
      look: CERTIFICATE,
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({}),
    result: z.custom<CertificateView>(),
  }),
  denials: operation({
    meaning: 'Who was refused lately, on this node, the newest first.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly DeniedSource[]>(),
  }),
  allowSource: operation({
    meaning: 'Adds a range of sources to a list of those that are allowed.',
    access: changes({
      words: 'Allowed a source',
      subject: 'cidr',
      look: SETTINGS_GIVEN,
      touches: ['settings', 'denials'],
    }),
    request: z.strictObject({ setting: z.enum(ALLOW_LISTS), cidr: z.string().max(100) }),
    result: z.custom<SettingRow>(),
  }),
};

/** Those who carry them out. */
export type SettingsOperations = OperationsOf<typeof SETTINGS_OPERATIONS>;
