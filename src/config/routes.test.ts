import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatFault } from './fault.ts';
import { readRoutes, ruleDefinition } from './routes.ts';

const RELAYS = ['out', 'direct'];

function read(yaml: string) {
  return readRoutes({ raw: parse(yaml), origin: 'file', source: 'test' }, RELAYS);
}

function faultsOf(yaml: string): string[] {
  return read(yaml).faults.map(formatFault);
}

test("the contract's example is read as it is meant", () => {
  const { rules, faults } = read(`
- { match: { recipient_domain: ["gmail.com", "*.example.org"], tag: news }, via: [out, direct] }
- { match: { sender_domain: example.com }, via: [ { relay: out, weight: 3 }, { relay: direct, weight: 1 } ] }
`);
  expect(faults).toEqual([]);
  expect(rules).toEqual([
    {
      name: 'rule-1',
      match: { recipientDomain: new Set(['gmail.com', '*.example.org']), tag: new Set(['news']) },
      via: [
        { relay: 'out', weight: 1 },
        { relay: 'direct', weight: 1 },
      ],
      order: 'given',
    },
    {
      name: 'rule-2',
      match: { senderDomain: new Set(['example.com']) },
      via: [
        { relay: 'out', weight: 3 },
        { relay: 'direct', weight: 1 },
      ],
      order: 'weighted',
    },
  ]);
});

test('every condition is read, in its canonical form, and written back so that it is read as the same', () => {
  const { rules, faults } = read(`
- name: all
  match:
    sender: ["<>", Ann@Example.ORG]
    sender_domain: bücher.example
    recipient: bob@example.net
    recipient_domain: ["*.Example.net", "[192.0.2.1]"]
    tag: News
    key: Shop
    source: printer
    source_cidr: [10.0.0.0/8, 2001:db8::/32]
    min_bytes: 10
    max_bytes: 20
    time: [mon-fri 08:00-18:00, sun]
  via: [inbox]
`);
  expect(faults).toEqual([]);
  const [rule] = rules;
  if (rule === undefined) throw new Error('there is no rule');
  expect(rule.match).toMatchObject({
    sender: new Set(['', 'ann@example.org']),
    senderDomain: new Set(['xn--bcher-kva.example']),
    recipientDomain: new Set(['*.example.net', '[192.0.2.1]']),
    tag: new Set(['news']),
    key: new Set(['shop']),
    minBytes: 10,
    maxBytes: 20,
  });
  expect(rule.match.sourceCidr?.contains('10.1.2.3')).toBe(true);
  expect(rule.match.sourceCidr?.contains('192.0.2.1')).toBe(false);
  const definition = ruleDefinition(rule);
  const again = readRoutes({ raw: [definition], origin: 'stored', source: 'test' }, RELAYS);
  expect(again.faults).toEqual([]);
  expect(again.rules.map(ruleDefinition)).toEqual([definition]);
  expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
});

test.each([
  ['{}', 'routes: must be a list of at most 500 rules (test)'],
  ['[7]', 'routes[0]: must be a map of name, match, via (test)'],
  ['[{ match: {}, via: [out], vias: 1 }]', 'routes[0].vias: no such member; did you mean via? (test)'],
  ['[{ via: [out] }]', 'routes[0].match: must be a map of conditions; {} matches everything (test)'],
  [
    '[{ match: { recipient_domian: x.org }, via: [out] }]',
    'routes[0].match.recipient_domian: no such condition; did you mean recipient_domain? (test)',
  ],
  [
    '[{ match: { recipient_domain: [x.org, "*.*"] }, via: [out] }]',
    'routes[0].match.recipient_domain[1] = "*.*": must be a domain such as example.org, or *.example.org for every name below it (test)',
  ],
  ['[{ match: { tag: [] }, via: [out] }]', 'routes[0].match.tag: must have 1 to 1000 values (test)'],
  [
    '[{ match: { zzz: 1 }, via: [out] }]',
    'routes[0].match.zzz: no such condition; there are sender, sender_domain, recipient, recipient_domain, tag, key, source, source_cidr, min_bytes, max_bytes, time (test)',
  ],
  [
    '[{ match: { min_bytes: [1] }, via: [out] }]',
    'routes[0].match.min_bytes = [1]: must be a whole number of at least 0 bytes, or a whole number of bytes with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512KiB, 25MiB or 10GB (test)',
  ],
  [
    '[{ match: { min_bytes: 2, max_bytes: 1 }, via: [out] }]',
    'routes[0].match.min_bytes = 2: must not be over max_bytes (test)',
  ],
  [
    '[{ match: { time: 8-18 }, via: [out] }]',
    'routes[0].match.time = "8-18": must be a time of the week in UTC such as mon-fri 08:00-18:00, 22:00-06:00 or sat,sun (test)',
  ],
  [
    '[{ match: { source_cidr: 10.1.2.3/8 }, via: [out] }]',
    'routes[0].match.source_cidr = "10.1.2.3/8": has bits set behind its first 8; write 10.0.0.0/8 for all of it, or 10.1.2.3 for one host (test)',
  ],
  [
    '[{ match: { sender: "Ann <ann@x.org>" }, via: [out] }]',
    'routes[0].match.sender = "Ann <ann@x.org>": must be a mail address, or <> for the null reverse-path (test)',
  ],
  ['[{ match: {} }]', 'routes[0].via: must be a list of 1 to 16 relays (test)'],
  ['[{ match: {}, via: [] }]', 'routes[0].via: must be a list of 1 to 16 relays (test)'],
  ['[{ match: {}, via: [ot] }]', 'routes[0].via[0] = "ot": no such relay; did you mean out? (test)'],
  ['[{ match: {}, via: [out, out] }]', 'routes[0].via[1] = "out": is in this group twice (test)'],
  [
    '[{ match: {}, via: [out, { relay: direct, weight: 1 }] }]',
    'routes[0].via: has relays with weights and without; give all of them one, or none (test)',
  ],
  [
    '[{ match: {}, via: [{ relay: out }] }]',
    'routes[0].via[0].weight: must be a whole number from 1 to 1000000 (test)',
  ],
  [
    '[{ match: {}, via: [{ relay: out, weight: 0 }] }]',
    'routes[0].via[0].weight = 0: must be a whole number from 1 to 1000000 (test)',
  ],
  ['[{ name: A b, match: {}, via: [out] }]', 'routes[0].name = "A b": must be 1 to 64 of a-z 0-9 - _ (test)'],
  [
    '[{ name: postmaster, match: {}, via: [out] }]',
    'routes[0].name = "postmaster": is built in; choose another (test)',
  ],
  [
    '[{ name: a, match: { tag: x }, via: [out] }, { name: a, match: { tag: y }, via: [out] }]',
    'routes[1].name = "a": is the name of routes[0] too (test)',
  ],
  [
    '[{ name: rule-2, match: { tag: x }, via: [out] }, { match: { tag: y }, via: [out] }]',
    'routes[1].name = "rule-2": is the name of routes[0] too (test)',
  ],
  [
    '[{ match: {}, via: [out] }, { match: { tag: y }, via: [out] }]',
    'routes[1]: is never reached, because routes[0] matches everything (test)',
  ],
])('%s is refused where it is wrong', (yaml, line) => {
  expect(faultsOf(yaml)).toEqual([line]);
});

test('all faults are told at once', () => {
  expect(faultsOf('[{ match: { tga: 1 }, via: [no] }, { via: {} }]')).toHaveLength(4);
});

test('rules, values and relays of a group have a limit', () => {
  const rule = (match: object, via: readonly string[] = ['out']) => ({ match, via });
  const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
  const readAll = (raw: unknown, relays = RELAYS) =>
    readRoutes({ raw, origin: 'file', source: 'test' }, relays).faults.length;
  expect(readAll(many(500).map((tag) => rule({ tag })))).toBe(0);
  expect(readAll(many(501).map((tag) => rule({ tag })))).toBe(1);
  expect(readAll([rule({ tag: many(1000) })])).toBe(0);
  expect(readAll([rule({ tag: many(1001) })])).toBe(1);
  expect(readAll([rule({}, many(16))], many(16))).toBe(0);
  expect(readAll([rule({}, many(17))], many(17))).toBe(1);
});
