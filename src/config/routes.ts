import { INBOX } from '../domain/relay.ts';
import {
  AMBIGUOUS_RULE,
  BUILT_IN_RULES,
  MANUAL_RULE,
  type RouteRule,
  type WeightedRelay,
} from '../domain/route.ts';
import { conditionName, conditionsOf, type RouteMatch } from '../domain/route-match.ts';
import { type Fault, showValue, unknownRule } from './fault.ts';
import { integer, isRecord } from './kinds.ts';
import {
  CONDITION_FIELDS,
  CONDITION_NAMES,
  type ConditionField,
  isConditionName,
  readCondition,
} from './route-conditions.ts';

/** The routing rules: `routes:` of the configuration file, and the same list as stored. */

/** Most rules of a table. */
const MAX_RULES = 500;
/** Most relays of a group. */
const MAX_GROUP = 16;

const RULE_NAME = /^[a-z0-9_-]{1,64}$/;
/** Names used in records for decisions that no rule made. */
const TAKEN_NAMES: readonly string[] = [...BUILT_IN_RULES, MANUAL_RULE, AMBIGUOUS_RULE, 'default'];
const MEMBERS = ['name', 'match', 'via'];
const WEIGHED_MEMBERS = ['relay', 'weight'];
const weightKind = integer(1, 1_000_000);

/** A list of rules, and its source. */
export interface RoutesSource {
  readonly raw: unknown;
  readonly origin: 'file' | 'stored';
  readonly source: string;
}

/** A rule in the form of the configuration file. */
export interface RuleDefinition {
  readonly name: string;
  readonly match: Readonly<Record<string, unknown>>;
  readonly via: readonly (string | WeightedRelay)[];
}

/** The result of reading a list of rules. */
export interface RoutesReading {
  /** Those without faults. */
  readonly rules: readonly RouteRule[];
  readonly faults: readonly Fault[];
}

/** Reads a list of rules; `relays` are the names of existing relays; null accepts any name. */
export function readRoutes({ raw, source }: RoutesSource, relays: readonly string[] | null): RoutesReading {
  const reader = new Reader(source, relays === null ? null : [INBOX, ...relays]);
  if (!Array.isArray(raw) || raw.length > MAX_RULES)
    reader.refuse('', undefined, `must be a list of at most ${MAX_RULES} rules`);
  else for (const [index, item] of raw.entries()) reader.readRule(item, index);
  return reader;
}

/** A rule in the form of the configuration file: every condition a list, except sizes. */
export function ruleDefinition({ name, match, via, order }: RouteRule): RuleDefinition {
  const conditions: Record<string, unknown> = {};
  for (const condition of conditionsOf(match)) {
    const written = conditionName(condition);
    if (!isConditionName(written)) throw new Error(`the table of conditions lacks ${written}`);
    const { several, values }: ConditionField = CONDITION_FIELDS[written];
    conditions[written] = several ? values(match) : values(match)[0];
  }
  return { name, match: conditions, via: order === 'given' ? via.map(({ relay }) => relay) : via };
}

class Reader implements RoutesReading {
  readonly rules: RouteRule[] = [];
  readonly faults: Fault[] = [];
  readonly #source: string;
  readonly #relays: readonly string[] | null;
  /** Indexes of rules by their names. */
  readonly #names = new Map<string, number>();
  /** The first rule that matches everything. */
  #last: number | null = null;

  constructor(source: string, relays: readonly string[] | null) {
    this.#source = source;
    this.#relays = relays;
  }

  readRule(raw: unknown, index: number): void {
    const place = `[${index}]`;
    const before = this.faults.length;
    if (!isRecord(raw)) {
      this.refuse(place, undefined, `must be a map of ${MEMBERS.join(', ')}`);
      return;
    }
    this.#refuseStrangers(raw, place, 'member', MEMBERS);
    const name = this.#readName(raw['name'], index);
    const match = this.#readMatch(raw['match'], `${place}.match`);
    const group = this.#readVia(raw['via'], `${place}.via`);
    if (this.#last !== null)
      this.refuse(place, undefined, `is never reached, because routes[${this.#last}] matches everything`);
    if (this.faults.length > before) return;
    if (Object.keys(match).length === 0) this.#last = index;
    this.rules.push({ name, match, ...group });
  }

  /** Records a fault at a place of the list. */
  refuse(place: string, value: unknown, rule: string): void {
    const shown = value === undefined ? null : showValue(value);
    this.faults.push({ key: `routes${place}`, value: shown, rule, source: this.#source });
  }

  #readName(raw: unknown, index: number): string {
    const place = `[${index}].name`;
    const name = raw ?? `rule-${index + 1}`;
    if (typeof name !== 'string' || !RULE_NAME.test(name)) {
      this.refuse(place, raw, 'must be 1 to 64 of a-z 0-9 - _');
      return '';
    }
    const first = this.#names.get(name);
    if (first !== undefined) this.refuse(place, name, `is the name of routes[${first}] too`);
    if (TAKEN_NAMES.includes(name)) this.refuse(place, name, 'is built in; choose another');
    this.#names.set(name, index);
    return name;
  }

  #readMatch(raw: unknown, place: string): RouteMatch {
    if (!isRecord(raw)) {
      this.refuse(place, undefined, 'must be a map of conditions; {} matches everything');
      return {};
    }
    this.#refuseStrangers(raw, place, 'condition', CONDITION_NAMES);
    let match: RouteMatch = {};
    for (const name of Object.keys(raw).filter(isConditionName)) {
      const reading = readCondition(name, raw[name]);
      if ('match' in reading) match = { ...match, ...reading.match };
      else
        for (const flaw of reading.flaws) this.refuse(`${place}.${name}${flaw.place}`, flaw.value, flaw.rule);
    }
    const { minBytes = 0, maxBytes = Number.POSITIVE_INFINITY } = match;
    if (minBytes > maxBytes) this.refuse(`${place}.min_bytes`, minBytes, 'must not be over max_bytes');
    return match;
  }

  #readVia(raw: unknown, place: string): Pick<RouteRule, 'via' | 'order'> {
    const none = { via: [], order: 'given' } as const;
    const items: readonly unknown[] = Array.isArray(raw) ? raw : [];
    if (items.length === 0 || items.length > MAX_GROUP) {
      this.refuse(place, undefined, `must be a list of 1 to ${MAX_GROUP} relays`);
      return none;
    }
    const weighed = items.filter(isRecord).length;
    if (weighed > 0 && weighed < items.length) {
      this.refuse(place, undefined, 'has relays with weights and without; give all of them one, or none');
      return none;
    }
    const via = items.map((item, index) =>
      isRecord(item)
        ? this.#readWeighed(item, `${place}[${index}]`)
        : { relay: this.#readRelay(item, `${place}[${index}]`), weight: 1 },
    );
    this.#refuseRepeats(via, place);
    return { via, order: weighed > 0 ? 'weighted' : 'given' };
  }

  #readWeighed(raw: Record<string, unknown>, place: string): WeightedRelay {
    this.#refuseStrangers(raw, place, 'member', WEIGHED_MEMBERS);
    const relay = this.#readRelay(raw['relay'], `${place}.relay`);
    const weight = weightKind.read(raw['weight']);
    if (weight === undefined) this.refuse(`${place}.weight`, raw['weight'], `must be ${weightKind.rule}`);
    return { relay, weight: weight ?? 1 };
  }

  #readRelay(raw: unknown, place: string): string {
    if (typeof raw !== 'string') this.refuse(place, raw, 'must be the name of a relay');
    else if (this.#relays !== null && !this.#relays.includes(raw))
      this.refuse(place, raw, unknownRule('relay', raw, this.#relays));
    return typeof raw === 'string' ? raw : '';
  }

  #refuseRepeats(via: readonly WeightedRelay[], place: string): void {
    const names = via.map(({ relay }) => relay);
    for (const [index, name] of names.entries())
      if (name !== '' && names.indexOf(name) < index)
        this.refuse(`${place}[${index}]`, name, 'is in this group twice');
  }

  #refuseStrangers(
    raw: Record<string, unknown>,
    place: string,
    what: string,
    known: readonly string[],
  ): void {
    for (const name of Object.keys(raw))
      if (!known.includes(name))
        this.refuse(`${place}.${name}`, undefined, unknownRule(what, name, known, known.join(', ')));
  }
}
