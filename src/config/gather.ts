import { RELAY_NAME } from '../domain/relay.ts';
import { readError } from '../lib/error.ts';
import { NOTE_PREFIX } from '../store/registry.ts';
import { type Fault, showValue, unknownRule } from './fault.ts';
import { isRecord } from './kinds.ts';
import type { RelaySource } from './relay-checks.ts';
import { secretFields, unpackSecrets } from './relay-secrets.ts';
import type { RoutesSource } from './routes.ts';
import { isSettingKey, SETTING_KEYS, type SettingKey } from './schema.ts';
import { SETTINGS } from './settings.ts';
import type { Origin, Sources } from './sources.ts';
import { readYaml } from './yaml.ts';

/** A setting's value as given, not validated yet. */
export interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
  readonly source: string;
}

/** The contents of the sources: the winning value of each setting given, and every relay's definition. */
export interface Gathered {
  readonly given: ReadonlyMap<SettingKey, Given>;
  readonly relays: readonly RelaySource[];
  /** The routing rules; null if no source has any. */
  readonly routes: RoutesSource | null;
  readonly faults: readonly Fault[];
  /** Names of unknown `WAYBILL_*` variables. */
  readonly ignored: readonly string[];
}

/** Our variables that are not settings. The last two are the testing client's. */
const OTHER_VARIABLES = [
  'WAYBILL_DATA',
  'WAYBILL_CONFIG',
  'WAYBILL_ADMIN_PASSWORD',
  'WAYBILL_URL',
  'WAYBILL_TEST_KEY',
];
const PREFIX = 'WAYBILL_';
const FILE_SUFFIX = '_file';
/** Unknown names to compare with the known ones. */
const MAX_SUGGESTIONS = 20;
/** `api`, `webui`, …: the sections of settings in the file. */
const SECTIONS = [...new Set(SETTING_KEYS.flatMap((key) => key.split('.').slice(0, 1)))];
/** `suppressions.scope`, …: the groups of settings within sections. */
const GROUPS = new Set(
  SETTING_KEYS.filter((key) => key.split('.').length > 2).map((key) => key.slice(0, key.lastIndexOf('.'))),
);

/** The key of the stored routing rules among the settings, as JSON. */
export const STORED_ROUTES = 'routes';

/** Reads the sources in rising order of precedence: stored, file, environment. */
export function gather(sources: Sources): Gathered {
  const gatherer = new Gatherer(sources);
  gatherer.takeStored();
  gatherer.takeFile();
  gatherer.takeEnvironment();
  return gatherer;
}

class Gatherer implements Gathered {
  readonly given = new Map<SettingKey, Given>();
  readonly relays: RelaySource[] = [];
  routes: RoutesSource | null = null;
  readonly faults: Fault[] = [];
  readonly ignored: string[] = [];
  readonly #sources: Sources;
  #refused = 0;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  takeStored(): void {
    const { settings, relays } = this.#sources.stored;
    for (const [key, json] of settings) {
      if (key.startsWith(NOTE_PREFIX)) continue;
      const source = 'stored setting';
      if (key === STORED_ROUTES)
        this.routes = { raw: JSON.parse(json), origin: 'stored', source: 'stored routes' };
      else if (isSettingKey(key)) this.given.set(key, { raw: JSON.parse(json), origin: 'stored', source });
      else this.#refuseKey(key, source);
    }
    for (const { name, definition, password, unreadable } of relays) {
      const fields: Record<string, unknown> = JSON.parse(definition);
      const raw = { ...fields, ...secretFields(fields, unpackSecrets(fields, password)) };
      this.#addRelay(raw, `relays.${name}`, 'stored', 'stored relay', unreadable);
    }
  }

  takeFile(): void {
    const { file } = this.#sources;
    if (file === null) return;
    const source = `file ${file.path}`;
    const refuse = (rule: string) => this.faults.push({ key: file.path, value: null, rule, source });
    const read = readYaml(file.text);
    if (!read.ok) {
      read.rules.forEach(refuse);
      return;
    }
    const root = read.root ?? {};
    if (!isRecord(root)) refuse('must be a map of sections');
    else for (const [section, body] of Object.entries(root)) this.#takeSection(section, body ?? {}, source);
  }

  takeEnvironment(): void {
    for (const [name, text] of Object.entries(this.#sources.environment)) {
      if (!name.startsWith(PREFIX) || text === undefined) continue;
      if (name.includes('__')) this.#takeVariable(name, text);
      else if (!OTHER_VARIABLES.includes(name.replace(/_FILE$/, ''))) this.ignored.push(name);
    }
  }

  #takeSection(section: string, body: unknown, source: string): void {
    if (section === 'relays') this.#takeFileRelays(body, source);
    // Its mere presence means that the file has the table.
    else if (section === 'routes') this.routes = { raw: emptyAsList(body), origin: 'file', source };
    else if (isRecord(body)) this.#takeSettings(section, body, source);
    // Its value is not shown: in place of a whole section there may be a password.
    else if (SECTIONS.includes(section))
      this.faults.push({ key: section, value: null, rule: 'must be a map of settings', source });
    else this.#refuseName('section', section, [...SECTIONS, 'relays', 'routes'], source);
  }

  #takeSettings(section: string, body: Record<string, unknown>, source: string): void {
    for (const [name, raw] of Object.entries(body)) {
      const key = `${section}.${name}`;
      const target = fileTarget(key);
      if (isSettingKey(key)) this.given.set(key, { raw, origin: 'file', source });
      else if (GROUPS.has(key)) this.#takeGroup(key, raw ?? {}, source);
      else if (target !== null && SETTINGS[target].secret) this.#takeSecret(key, target, raw, 'file', source);
      else this.#refuseKey(key, source);
    }
  }

  #takeGroup(key: string, body: unknown, source: string): void {
    if (isRecord(body)) this.#takeSettings(key, body, source);
    else this.faults.push({ key, value: showValue(body), rule: 'must be a map of settings', source });
  }

  #takeVariable(name: string, text: string): void {
    const source = `environment ${name}`;
    const key = name.slice(PREFIX.length).toLowerCase().replaceAll('__', '.');
    const target = fileTarget(key);
    if (isSettingKey(key)) {
      this.given.set(key, { raw: SETTINGS[key].kind.fromText(text), origin: 'environment', source });
    } else if (target !== null) this.#takeSecret(key, target, text, 'environment', source);
    else this.#refuseKey(key, source);
  }

  /** Uses the text of the file named by `x_file` as the value of `x`. */
  #takeSecret(key: string, target: SettingKey, path: unknown, origin: Origin, source: string): void {
    if (typeof path !== 'string') {
      this.faults.push({ key, value: null, rule: 'must be a path', source });
      return;
    }
    try {
      const raw = SETTINGS[target].kind.fromText(this.#sources.readSecret(path));
      this.given.set(target, { raw, origin, source });
    } catch (error) {
      this.faults.push({ key, value: showValue(path), rule: `cannot be read: ${readError(error)}`, source });
    }
  }

  #takeFileRelays(body: unknown, source: string): void {
    const list = emptyAsList(body);
    if (!Array.isArray(list)) {
      this.faults.push({ key: 'relays', value: null, rule: 'must be a list of relays', source });
      return;
    }
    const names = list.map((raw: unknown) => (isRecord(raw) ? raw['name'] : null));
    const named = Map.groupBy(names, (name) => name);
    for (const [index, raw] of list.entries()) {
      const name: unknown = names[index];
      // A name says more than an index, unless it is invalid, or not unique.
      const isNamed = typeof name === 'string' && RELAY_NAME.test(name);
      const isOne = isNamed && named.get(name)?.length === 1;
      this.#addRelay(raw, isOne ? `relays.${name}` : `relays[${index}]`, 'file', source);
    }
  }

  #addRelay(
    raw: unknown,
    key: string,
    origin: 'file' | 'stored',
    source: string,
    secretElsewhere = false,
  ): void {
    const { readSecret } = this.#sources;
    this.relays.push({ raw, key, origin, source, readSecret, secretElsewhere });
  }

  #refuseKey(key: string, source: string): void {
    this.#refuseName('setting', key, SETTING_KEYS, source);
  }

  /** Comparing a name with all known ones takes time, and a file may contain thousands. */
  #refuseName(what: string, key: string, known: readonly string[], source: string): void {
    const compared = this.#refused < MAX_SUGGESTIONS ? known : [];
    this.#refused += 1;
    this.faults.push({ key, value: null, rule: unknownRule(what, key, compared), source });
  }
}

/** An empty section reads as an empty map, even where a list is expected. */
function emptyAsList(body: unknown): unknown {
  return isRecord(body) && Object.keys(body).length === 0 ? [] : body;
}

/** The setting `x` behind a key `x_file`; null if there is none. */
function fileTarget(key: string): SettingKey | null {
  const target = key.endsWith(FILE_SUFFIX) ? key.slice(0, -FILE_SUFFIX.length) : '';
  return isSettingKey(target) ? target : null;
}
