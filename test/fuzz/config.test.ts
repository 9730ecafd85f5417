/** The configuration: a file that anybody may have written, the environment, and rules of routing given at run time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatFault } from '../../src/config/fault.ts';
import { resolve } from '../../src/config/resolve.ts';
import { formatTimeWindow, parseTimeWindow } from '../../src/config/route-conditions.ts';
import { readRoutes, ruleDefinition } from '../../src/config/routes.ts';
import type { Sources } from '../../src/config/sources.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const NOTHING: Sources = {
  environment: {},
  file: null,
  stored: { settings: new Map(), relays: [] },
  readSecret: () => {
    throw new Error('there is no such file');
  },
};
/** Longer ones find nothing that shorter ones do not; what they cost is held by `src/config/yaml.test.ts`. */
const MAX_FILE = 8 * 1024;

const yaml = textOf(
  ...([
    'server:\n',
    'relays:\n',
    'routes:\n',
    'api:\n',
    'listener:\n',
    '  ',
    '- ',
    ': ',
    '\n',
    '\n',
  ] as const),
  ...[
    'hostname: x.test\n',
    'port: 8025\n',
    'ports: [25]\n',
    'name: a\n',
    'type: mx\n',
    'match: {}\n',
    'via: [a]\n',
  ],
  ...[
    '&a ',
    '*a',
    '<<: *a',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '|',
    '!!int ',
    '? ',
    '---\n',
    '# x\n',
    '~',
    '0x1F',
    '.nan',
  ],
);

/** What a faulty configuration is told by: lines that can be printed. */
function expectTold(faults: ReturnType<typeof resolve>['faults']): void {
  for (const fault of faults) {
    const line = formatFault(fault);
    expect(line.length).toBeLessThan(10_000);
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  }
}

test('any file is a configuration, or its faults are told', () =>
  fuzz(
    'configuration file',
    { made: yaml, corpus: corpus('configuration', (bytes) => bytes.toString(), MAX_FILE) },
    (text) => {
      const { config, faults, effective } = resolve({ ...NOTHING, file: { path: 'waybill.yaml', text } });
      expectTold(faults);
      expect(config.relays.length).toBeGreaterThan(0);
      expect(effective.filter(({ value }) => value === undefined)).toEqual([]);
      return faults.length === 0;
    },
  ));

const variable = fc.tuple(
  fc.constantFrom(
    ...['WAYBILL_API__PORT', 'WAYBILL_SERVER__HOSTNAME', 'WAYBILL_LISTENER__PORTS', 'WAYBILL_RELAYS__A'],
    ...[
      'WAYBILL_DATABASE__URL',
      'WAYBILL_DATABASE__URL_FILE',
      'WAYBILL_X',
      'WAYBILL___',
      'PATH',
      'WAYBILL_API__',
    ],
    ...['WAYBILL_LISTENER__TRUSTED_PROXIES', 'WAYBILL_DELIVERY__RETRY_MINUTES', 'WAYBILL_NODE__ROLES'],
  ),
  textOf('8025', '25,587', ' ', ',', 'x.test', '10.0.0.0/8', 'true', '1e3', '5 MiB', '-1', '[', 'null', '0'),
);

function environmentOf(bytes: Buffer): [string, string][] {
  return bytes
    .toString()
    .split('\n')
    .slice(0, 100)
    .map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]);
}

test('any environment is a configuration, or its faults are told', () =>
  fuzz(
    'configuration environment',
    {
      made: fc.array(variable, { maxLength: 4 }),
      corpus: corpus('configuration', environmentOf, MAX_FILE),
    },
    (variables) => {
      const { faults, ignored } = resolve({ ...NOTHING, environment: Object.fromEntries(variables) });
      expectTold(faults);
      for (const name of ignored) expect(name).toMatch(/^WAYBILL_/);
      return faults.length === 0;
    },
  ));

const condition = fc.record(
  {
    recipient_domain: fc.oneof(
      fc.constantFrom('x.test', '*.x.test', 'ü.test'),
      fc.array(textOf('x', '.', '*')),
    ),
    min_bytes: fc.oneof(fc.nat(), fc.constantFrom(-1, 1.5, '10 KiB')),
    time: textOf('mon', '-', 'fri', ' ', '08:00', '22:00-06:00', ','),
    tag: fc.jsonValue({ maxDepth: 1 }),
    x: fc.constant(1),
  },
  { requiredKeys: [] },
);
const rule = fc.record(
  {
    name: fc.constantFrom<unknown>('a', 'b', 'default', 'A b', 1),
    match: fc.oneof(
      { weight: 4, arbitrary: condition },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    ),
    via: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom<unknown>(['a'], ['a', 'inbox'], [{ relay: 'a', weight: 2 }], []),
      },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    ),
  },
  { requiredKeys: ['match', 'via'] },
);

/** The rules of an example in JSON; its text where it is none. */
function rulesOf(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && 'routes' in value ? value.routes : value;
  } catch {
    return bytes.toString();
  }
}

test('any rules of routing are read and written back the same, or their faults are told', () =>
  fuzz(
    'route rules',
    {
      made: fc.oneof(fc.array(rule, { minLength: 1, maxLength: 3 }), fc.jsonValue({ maxDepth: 3 })),
      corpus: corpus('routes', rulesOf),
    },
    (raw) => {
      const source = { raw, origin: 'stored', source: 'stored routes' } as const;
      const { rules, faults } = readRoutes(source, ['a']);
      expectTold(faults);
      const again = readRoutes({ ...source, raw: rules.map(ruleDefinition) }, ['a']);
      expect(again.rules).toEqual(rules);
      return faults.length === 0 && rules.length > 0;
    },
  ));

test('a time of the week is written back and read again, or is none', () =>
  fuzz(
    'time of the week',
    {
      made: textOf('mon', 'fri', 'sun', '-', ',', ' ', '08:00', '24:00', '22:00-06:00', '18:60'),
      corpus: corpus('values', (bytes) => bytes.toString()),
    },
    (text) => {
      const window = parseTimeWindow(text);
      if (window === null) return false;
      expect(parseTimeWindow(formatTimeWindow(window))).toEqual(window);
      return true;
    },
  ));
