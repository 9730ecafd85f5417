import { join, relative } from 'node:path';
import { type Fault, formatFault } from '../../config/fault.ts';
import type { Config } from '../../config/schema.ts';
import { isLoopback } from '../../lib/network.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';
import { isInside, setOf } from './ranges.ts';

/** The mode bits that let others than a file's owner read it. */
const OTHERS = 0o077;

/** Whether a server could start with the configuration, or keep running with it. */
export const configurationCheck: Check = async ({ loaded, bound, machine }) => {
  const { faults } = loaded;
  const configFile = machine.fileMode(loaded.configFile) === null ? null : loaded.configFile;
  if (faults.length === 0)
    return [
      ok('configuration', `No faults. ${configFile === null ? 'There is no file.' : `File: ${configFile}`}`),
    ];
  const until = bound === null ? '' : '; the previous settings are in force, and a start would fail';
  return faults.map((fault) =>
    fail('configuration', `${formatFault(fault)}${until}`, cureOf(fault, configFile)),
  );
};

/** A stored setting is corrected by a command, any other in its source. */
function cureOf({ source, key }: Fault, configFile: string | null): string {
  if (source === 'stored routes') return 'publish other rules: waybill routes publish FILE';
  if (source === 'stored relay' && key.startsWith('relays.'))
    return `remove and add it: waybill relays remove ${key.split('.')[1]}`;
  if (source.startsWith('environment'))
    return 'change the named variable where the server is started, then check: waybill config';
  return `correct ${configFile ?? 'what is named'}, then check: waybill config`;
}

/** Whether the passwords of relays can be decrypted, and by nobody else. */
export const secretKeyCheck: Check = async ({ loaded, dataDir, machine }) => {
  const { config, vault } = loaded;
  const path = config.secrets.keyFile ?? join(dataDir, 'secret.key');
  const name = 'secret key';
  if (vault === null && machine.fileMode(path) === null)
    return [
      fail(name, `There is no ${path}, so no stored password can be read.`, 'put back the earlier file'),
    ];
  if (vault === null)
    return [
      fail(name, `${path} cannot be read, so no stored password can be decrypted.`, `chmod 600 ${path}`),
    ];
  if (config.unreadableRelays.length > 0) {
    const relays = config.unreadableRelays.join(', ');
    const again = `put back the earlier ${path}, or remove and add the relay: waybill relays remove NAME`;
    return [fail(name, `${path} does not decrypt the stored passwords of: ${relays}.`, again)];
  }
  const mode = machine.fileMode(path);
  if (mode !== null && (mode & OTHERS) !== 0)
    return [warn(name, `Others than its owner can read ${path}.`, `chmod 600 ${path}`)];
  return [ok(name, `${path} decrypts all stored passwords.`)];
};

/** What of the contents is encrypted at rest, and whether their key lies beside them. */
export const encryptionCheck: Check = async ({ spool, loaded, dataDir }) => {
  const name = 'encryption';
  if (spool === null) return [skipped(name, 'The contents of mail are not open.')];
  const { encrypting, keyId, segments, encrypted } = await spool.encryption();
  const verb = encrypted === 1 ? 'is' : 'are';
  const share = `${encrypted} of ${segments} segments ${verb} encrypted under the key ${keyId}`;
  if (!encrypting && encrypted === 0) return [ok(name, 'The contents of mail are not encrypted at rest.')];
  if (!encrypting) return [ok(name, `New mail is not encrypted at rest; ${share}: keep it.`)];
  const { secrets, database } = loaded.config;
  const isBeside = secrets.keyFile === null || !relative(dataDir, secrets.keyFile).startsWith('..');
  if (isBeside && database.url === '')
    return [
      warn(
        name,
        `New mail is encrypted at rest; ${share}. But the secret key lies in ${dataDir}, too: whoever copies that directory can read it.`,
        'move secret.key to another volume, and name it in waybill.yaml: secrets: { key_file: /run/secrets/waybill.key }',
      ),
    ];
  return [ok(name, `New mail is encrypted at rest; ${share}.`)];
};

/** Whether the database answers. */
export const databaseCheck: Check = async ({ views, storeFault, clock, dataDir, loaded }) => {
  const name = 'database';
  const isShared = loaded.config.database.url !== '';
  const cure = isShared
    ? 'make sure that PostgreSQL is running and accepts this machine: psql "$WAYBILL_DATABASE__URL" -c "SELECT 1"'
    : `check the log, and the disk of ${dataDir}`;
  const kind = isShared ? 'PostgreSQL, ' : '';
  if (storeFault !== null) return [fail(name, storeFault, cure)];
  if (views === null) return [skipped(name, 'It is not open.')];
  const begun = clock.mono();
  try {
    const { databaseBytes } = await views.figures(clock.wall());
    return [
      ok(name, `${kind}${megabytes(databaseBytes)}, answers in ${Math.ceil(clock.mono() - begun)} ms.`),
    ];
  } catch (error) {
    return [fail(name, `It does not answer: ${String(error)}`, cure)];
  }
};

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** The program itself, its threads, the database's cache, and memory in temporary use. */
const BASE_BYTES = 300 * MIB;
/** Memory for each byte in flight: what is composed is counted, garbage is not. */
const BYTES_IN_FLIGHT = 1.5;
/** An idle connection, as in docs/operations.md. */
const CONNECTION_BYTES = 7 * KIB;
/** Requests to the dashboard, and unread answers; its connections (`dashboard/server.ts`). */
const DASHBOARD_BYTES = 80 * MIB;
const DASHBOARD_FILES = 1024;
/** Files of the store and the spool, and those of any process. */
const BASE_FILES = 200;

/** The most memory that it takes, whatever clients do: the sum in docs/operations.md, without TLS. */
function memoryBound({ api, webui, listener, limits }: Config): number {
  return (
    BASE_BYTES +
    BYTES_IN_FLIGHT * limits.maxBytesInFlight +
    portsOf(api) * (limits.maxUnsentBytes + api.maxConnections * CONNECTION_BYTES) +
    (webui.port === null ? 0 : DASHBOARD_BYTES) +
    listener.maxConnections * CONNECTION_BYTES
  );
}

function filesBound({ api, webui, listener, relays }: Config): number {
  const outgoing = relays.reduce((sum, { limits }) => sum + limits.maxConcurrency, 0);
  const dashboard = webui.port === null ? 0 : DASHBOARD_FILES;
  return listener.maxConnections + portsOf(api) * api.maxConnections + dashboard + outgoing + BASE_FILES;
}

function portsOf({ port, tlsEnabled, tlsPort }: Config['api']): number {
  return Number(port !== null) + Number(tlsEnabled && tlsPort !== null);
}

/** Whether the system provides what the settings allow. */
export const limitsCheck: Check = async ({ machine, loaded }) => {
  const { config } = loaded;
  const found: Finding[] = [];
  const files = filesBound(config);
  const maxFiles = machine.maxOpenFiles();
  if (maxFiles !== null && maxFiles < files)
    found.push(
      warn(
        'open files',
        `The system allows ${maxFiles}, but ${files} are needed when all connections are in use.`,
        `LimitNOFILE=${files} in the [Service] section of the unit, or before the start: ulimit -n ${files}`,
      ),
    );
  else found.push(ok('open files', `${maxFiles ?? 'An unknown number'} allowed, at most ${files} needed.`));
  const bytes = memoryBound(config);
  const available = machine.availableMemory();
  if (available !== null && available < bytes)
    found.push(
      warn(
        'memory',
        `${Math.floor(available / MIB)} MiB are available, but up to ${Math.ceil(bytes / MIB)} MiB are used under load.`,
        `limits: { max_bytes_in_flight: ${Math.max(MIB, Math.floor(available / 8))} }`,
      ),
    );
  else
    found.push(
      ok(
        'memory',
        `${available === null ? 'Unknown' : Math.floor(available / MIB)} MiB available, at most ${Math.ceil(bytes / MIB)} MiB used.`,
      ),
    );
  return found;
};

const NAME = 'sources';
/** Waiting recipients whose source is examined. */
const SAMPLE = 500;
/** Of fewer, a single source would prove nothing. */
const ENOUGH = 20;

/**
 * Whether the source addresses we see are real. Behind a container's port mapping or NAT, every stranger has the
 * gateway's address, and allowing that address allows the world.
 */
export const sourcesCheck: Check = async (premises) => {
  const { machine, loaded } = premises;
  const { allowedCidrs } = loaded.config.listener;
  const gateway = machine.gateway();
  const hidden = gateway !== null && setOf(allowedCidrs).contains(gateway);
  const cure =
    'listener: { require_auth: true }  # or run the container with --network host, or put a proxy before it: listener.trusted_proxies';
  const found: Finding[] = [];
  if (hidden && machine.inContainer())
    found.push(
      warn(
        NAME,
        `listener.allowed_cidrs lets ${gateway} send, the gateway of this container: behind a port mapping every stranger may appear with that address.`,
        cure,
      ),
    );
  const single = await singleSource(premises);
  if (single !== null && isInside(single) && !isLoopback(single))
    found.push(
      warn(
        NAME,
        `All waiting mail came from ${single}, a private address${single === gateway ? ' and our gateway' : ''}: NAT may hide who really sent it.`,
        cure,
      ),
    );
  const seen = gateway === null ? 'no gateway' : `gateway ${gateway} is not in listener.allowed_cidrs`;
  return found.length > 0
    ? found
    : [
        ok(
          NAME,
          hidden
            ? `Gateway ${gateway} is allowed, and this is not a container.`
            : `Their addresses are real: ${seen}.`,
        ),
      ];
};

/** The single source of all waiting mail, if there is enough of it to tell. */
async function singleSource({ views }: Premises): Promise<string | null> {
  const page = await views?.waiting({ lane: 'all', after: null, limit: SAMPLE });
  const known = (page?.deliveries ?? []).flatMap(({ sourceAddress }) => sourceAddress ?? []);
  const [first] = known;
  if (first === undefined || known.length < ENOUGH) return null;
  return known.every((source) => source === first) ? first : null;
}
