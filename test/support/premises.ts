import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Loaded, loadConfig, NOTHING_STORED } from '../../src/config/load.ts';
import type { Machine, Premises, RuntimePorts } from '../../src/control/doctor/premises.ts';
import type { RecordType, Resolver } from '../../src/dns/resolver.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { ManualClock } from './manual-clock.ts';

/** A configuration as it is once loaded from a file with this text. */
function loadedFrom(text: string): Loaded {
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-premises-'));
  try {
    writeFileSync(join(dataDir, 'waybill.yaml'), text);
    return loadConfig({ dataDir, environment: {}, stored: NOTHING_STORED, random: systemRandom });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

const GIB = 1024 ** 3;

/** A machine on which nothing is wrong. */
const GOOD_MACHINE: Machine = {
  tryPort: async () => 'free',
  portOwner: async () => null,
  firstFreePort: () => 1024,
  flushTimes: async () => [0.4, 0.5, 0.9],
  space: async () => ({ freeBytes: 50 * GIB, totalBytes: 100 * GIB }),
  inMemory: async () => false,
  fileTime: async () => Date.UTC(2026, 10, 20),
  builtAt: () => Date.UTC(2026, 10, 1),
  clockSynchronised: async () => true,
  maxOpenFiles: () => 1_000_000,
  availableMemory: () => 8 * GIB,
  addresses: () => ['192.0.2.7'],
  gateway: () => '192.0.2.1',
  inContainer: () => false,
  fileMode: () => 0o100600,
  readFile: () => {
    throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
  },
  knock: async () => 405,
  dialogue: async () => ({ connected: true, replies: ['220 hi', '250 hi', '250 ok', '550 5.7.1 no'] }),
};

/** The ports of a server that runs as it should by default. */
export const BOUND: RuntimePorts = {
  pid: 7,
  version: '1.0.0',
  api: 8025,
  apiTls: null,
  webui: 8420,
  smtp: [25, 587],
  smtpTls: [],
};

/** Premises on which nothing is wrong, changed as wished. `file` is the text of the configuration file. */
export function premises(
  change: Partial<Omit<Premises, 'machine'>> & {
    readonly machine?: Partial<Machine>;
    readonly file?: string;
  } = {},
): Premises {
  const { machine, file = 'server: { hostname: mail.example.com }', ...rest } = change;
  return {
    dataDir: '/var/lib/waybill',
    loaded: loadedFrom(file),
    bound: null,
    views: null,
    storeFault: null,
    resolver: scriptedResolver({}),
    probeProvider: async function* () {
      yield { name: 'READY', ok: true, detail: 'api.resend.com is ready for mail', atMs: 3 };
    },
    probe: async function* () {
      yield { name: 'READY', ok: true, detail: 'takes mail', atMs: 12 };
    },
    takeBackDenied: () => {},
    hookProvenAt: async () => null,
    spool: null,
    webhooks: null,
    issuing: null,
    keyring: null,
    clock: new ManualClock(),
    random: systemRandom,
    ...rest,
    machine: { ...GOOD_MACHINE, ...machine },
  };
}

/** Answers from a list of `TYPE name`; what is not in it does not exist, and `fail` cannot be told. */
export function scriptedResolver(zone: Readonly<Record<string, readonly unknown[] | 'fail'>>): Resolver {
  return {
    resolve: async (name: string, type: RecordType) => {
      const found = zone[`${type} ${name}`];
      if (found === 'fail') return { kind: 'failed', cause: 'dns_timeout', text: 'no answer' };
      if (found === undefined) return { kind: 'nxdomain', authenticated: false, ttlSeconds: 1 };
      // Sound because the test wrote records of the type into its list.
      const records = found as never;
      return { kind: 'found', records, canonicalName: name, authenticated: false, ttlSeconds: 1 };
    },
  };
}
