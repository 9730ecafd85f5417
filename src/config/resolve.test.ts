import { expect, test } from 'vitest';
import { missingRelays } from '../domain/route.ts';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import type { OpenedRelay, Sources } from './sources.ts';

function sources(parts: Partial<Sources> & { readonly yaml?: string } = {}): Sources {
  const { yaml, ...rest } = parts;
  return {
    environment: {},
    file: yaml === undefined ? null : { path: '/etc/waybill.yaml', text: yaml },
    stored: { settings: new Map(), relays: [] },
    readSecret: (path) => {
      throw new Error(`no file ${path}`);
    },
    ...rest,
  };
}

function faultLines(parts: Parameters<typeof sources>[0]): string[] {
  return resolve(sources(parts)).faults.map(formatFault);
}

const SMTP_RELAY = '{ name: out, type: smtp, host: smtp.example.net }';

test('without any source every default of the contract holds', () => {
  const { config, faults, effective } = resolve(sources());
  expect(faults).toEqual([]);
  expect(config.api).toMatchObject({ port: 8025, tlsPort: 8026, rateLimitPerKey: 100, maxRecipients: 1000 });
  expect(config.api.maxMessageBytes).toBe(26_214_400);
  expect(config.webui).toMatchObject({ port: 8420, allowedCidrs: ['0.0.0.0/0', '::/0'] });
  expect(config.listener.ports).toEqual([25, 587]);
  expect(config.delivery).toEqual({
    defaultRelay: 'inbox',
    retryFirstSeconds: 30,
    retryMaxSeconds: 3600,
    maxAgeHours: 48,
    ambiguous: 'retry',
    privateRelays: [],
    reportRelay: null,
    reportDelayHours: 4,
    reportsPerHour: 20,
  });
  expect(config.relays.map((relay) => [relay.name, relay.type, relay.origin])).toEqual([
    ['inbox', 'inbox', 'builtin'],
  ]);
  expect(effective.every(({ origin }) => origin === 'default')).toBe(true);
});

test.each([
  ['server: *nobody', /Unresolved alias/],
  ['server: &a\n  hostname: *a', /an alias within its own value/],
  [
    'a: &a [x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]',
    /Excessive alias/,
  ],
])('a file whose aliases come to nothing, or to too much, is told as a fault: %j', (yaml, rule) => {
  expect(faultLines({ yaml })).toEqual([expect.stringMatching(rule)]);
  expect(faultLines({ yaml: 'api: &a { port: 8025 }\nx: *a' })).toEqual([expect.stringContaining('x.port')]);
});

test('reports need a relay that exists', () => {
  const yaml = (name: string) =>
    `delivery: { default_relay: inbox, report_relay: ${name} }\nrelays: [${SMTP_RELAY}]`;
  expect(resolve(sources({ yaml: yaml('out') })).config.delivery.reportRelay).toBe('out');
  expect(faultLines({ yaml: yaml('ou') })).toEqual([expect.stringContaining('delivery.report_relay')]);
});

test("an mx relay needs a full name to give in EHLO: its own, or the server's", () => {
  const yaml = (helo: string) =>
    `delivery: { default_relay: inbox }\nrelays: [{ name: direct, type: mx${helo} }]`;
  const rule =
    "must be this server’s full DNS name, such as mail.example.com: relay direct delivers to recipients' own servers, which refuse others";
  const environment = { WAYBILL_SERVER__HOSTNAME: 'mail' };
  expect(faultLines({ yaml: yaml(''), environment })).toEqual([
    `server.hostname = "mail": ${rule}; or give the relay a helo (environment WAYBILL_SERVER__HOSTNAME)`,
  ]);
  expect(faultLines({ yaml: yaml(', helo: localhost'), environment })).toEqual([
    `relays.direct.helo = "localhost": ${rule} (relays)`,
  ]);
  expect(faultLines({ yaml: yaml(', helo: mail.example.com'), environment })).toEqual([]);
  expect(
    faultLines({ yaml: yaml(''), environment: { WAYBILL_SERVER__HOSTNAME: 'mail.example.com' } }),
  ).toEqual([]);
});

test('environment goes before file before stored before default', () => {
  const key = 'api.rate_limit_per_key';
  const stored = { settings: new Map([[key, '2']]), relays: [] };
  const yaml = 'api: { rate_limit_per_key: 3 }';
  const environment = { WAYBILL_API__RATE_LIMIT_PER_KEY: '4' };
  const found = (parts: Parameters<typeof sources>[0]) => {
    const { config, effective } = resolve(sources(parts));
    return [config.api.rateLimitPerKey, effective.find((setting) => setting.key === key)?.source];
  };
  expect(found({ stored })).toEqual([2, 'stored setting']);
  expect(found({ stored, yaml })).toEqual([3, 'file /etc/waybill.yaml']);
  expect(found({ stored, yaml, environment })).toEqual([4, 'environment WAYBILL_API__RATE_LIMIT_PER_KEY']);
});

test('lists in the environment are JSON or separated by commas; ports may be 0 or null', () => {
  const { config, faults } = resolve(
    sources({
      environment: {
        WAYBILL_API__ALLOWED_CIDRS: '10.0.0.0/8, 2001:db8::/32',
        WAYBILL_WEBUI__ALLOWED_HOSTS: '["mail.example.org"]',
        WAYBILL_LISTENER__PORTS: '2525,0',
        WAYBILL_API__PORT: '0',
        WAYBILL_WEBUI__PORT: 'null',
        WAYBILL_API__TLS_ENABLED: 'true',
      },
    }),
  );
  expect(faults).toEqual([]);
  expect(config.api.allowedCidrs).toEqual(['10.0.0.0/8', '2001:db8::/32']);
  expect(config.webui.allowedHosts).toEqual(['mail.example.org']);
  expect(config.listener.ports).toEqual([2525, 0]);
  expect([config.api.port, config.webui.port, config.api.tlsEnabled]).toEqual([0, null, true]);
});

test('of many unknown names the first 20 are compared with the settings, whether any is near or not', () => {
  const far = Array.from({ length: 18 }, (_, index) => `zzzzzz${index}: 1`);
  const near = ['apii: 1', 'webuii: 1', 'logg: 1', 'api: { prot: 1 }'];
  expect(faultLines({ yaml: [...far, ...near].join('\n') }).slice(18)).toEqual([
    'apii: no such section; did you mean api? (file /etc/waybill.yaml)',
    'webuii: no such section; did you mean webui? (file /etc/waybill.yaml)',
    'logg: no such section (file /etc/waybill.yaml)',
    'api.prot: no such setting (file /etc/waybill.yaml)',
  ]);
});

test('each fault is one line that names key, value, rule and source', () => {
  expect(
    faultLines({
      yaml: 'api: { port: 70000, bind: [], rate_limt_per_key: 5 }\nhealth: 3\nlog: { level: loud }\nlogs: hunter2\nbogus: 1',
      environment: { WAYBILL_API__MAX_RECIPIENTS: 'many' },
    }),
  ).toEqual([
    'api.rate_limt_per_key: no such setting; did you mean api.rate_limit_per_key? (file /etc/waybill.yaml)',
    'health: must be a map of settings (file /etc/waybill.yaml)',
    'logs: no such section; did you mean log? (file /etc/waybill.yaml)',
    'bogus: no such section (file /etc/waybill.yaml)',
    'api.port = 70000: must be a port from 0 to 65535, or null (file /etc/waybill.yaml)',
    'api.bind = []: must be a list in which each element is an IP address; an empty list is refused (file /etc/waybill.yaml)',
    'api.max_recipients = "many": must be a whole number from 1 to 100000 (environment WAYBILL_API__MAX_RECIPIENTS)',
    'log.level = "loud": must be debug or info or warn or error (file /etc/waybill.yaml)',
  ]);
});

test('a file that is no YAML or no map is a fault', () => {
  expect(faultLines({ yaml: 'api: {' })).toHaveLength(1);
  expect(faultLines({ yaml: 'api: { port: 1, port: 2 }' })[0]).toContain('unique');
  expect(faultLines({ yaml: '- api' })).toEqual([
    '/etc/waybill.yaml: must be a map of sections (file /etc/waybill.yaml)',
  ]);
  expect(faultLines({ yaml: '' })).toEqual([]);
  expect(faultLines({ yaml: 'routes: []\nrelays:\napi:\n' })).toEqual([]);
});

test('settings that are right by themselves are checked together', () => {
  expect(faultLines({ yaml: 'delivery: { retry_first_seconds: 60, retry_max_seconds: 30 }' })[0]).toContain(
    'must not be over delivery.retry_max_seconds',
  );
  expect(faultLines({ yaml: 'limits: { max_bytes_in_flight: 30000000 }' })[0]).toContain('at least 2 times');
  expect(faultLines({ yaml: 'limits: { max_queued_bytes: 26214399 }' })).toEqual([
    'limits.max_queued_bytes = 26214399: must be at least api.max_message_bytes (file /etc/waybill.yaml)',
  ]);
  expect(faultLines({ yaml: 'limits: { max_queued_bytes: 26214400 }' })).toEqual([]);
  expect(faultLines({ yaml: 'health: { disk_low_bytes: 1 }' })[0]).toContain('health.disk_critical_bytes');
  expect(faultLines({ yaml: 'tls: { cert_file: /a.pem }' })[0]).toContain('must be set together');
  expect(faultLines({ yaml: 'delivery: { default_relay: otu }' })[0]).toContain('no such relay');
});

test.each([
  ['hard_errors: 9', 'listener.hard_errors = 9: must not be under listener.soft_errors'],
  [
    'command_timeout_seconds: 9',
    'listener.busy_timeout_seconds = 10: must not be over listener.command_timeout_seconds',
  ],
  [
    'data_timeout_seconds: 9',
    'listener.busy_timeout_seconds = 10: must not be over listener.data_timeout_seconds',
  ],
  ['ports: [25, 587, 25, 25]', 'listener.ports = [25,587,25,25]: must not have 25 twice'],
  ['implicit_tls_ports: [465, 465]', 'listener.implicit_tls_ports = [465,465]: must not have 465 twice'],
  [
    'implicit_tls_ports: [465, 587]',
    'listener.implicit_tls_ports = [465,587]: must not have 587, which is one of listener.ports',
  ],
  [
    'sources: [{ name: a, cidr: 127.0.0.1 }, { name: b, cidr: 127.0.0.2 }, { name: a, cidr: 127.0.0.3 }]',
    'listener.sources[2].name = "a": is the name of listener.sources[0] too',
  ],
  [
    'sources: [{ name: a, cidr: 127.0.0.1 }, { name: b, cidr: 127.0.0.1 }]',
    'listener.sources[1].cidr = "127.0.0.1": never counts, because listener.sources[0] has it first',
  ],
  [
    'allowed_cidrs: [10.0.0.0/24, 10.0.2.0/24], sources: [{ name: a, cidr: 10.0.1.0/24 }, { name: b, cidr: 10.0.2.1 }]',
    'listener.sources[0].cidr = "10.0.1.0/24": is outside listener.allowed_cidrs, so row a has no effect; add its range there',
  ],
])('settings of the listener are checked together: %s', (yaml, line) => {
  const lines = faultLines({ yaml: `listener: { ${yaml} }` });
  expect(lines.map((found) => found.replace(/ \([^()]+\)$/, ''))).toEqual([line]);
});

test('settings of the listener may be as near to each other as can be', () => {
  const yaml = `listener:
  hard_errors: 10
  command_timeout_seconds: 10
  data_timeout_seconds: 10
  ports: [0, 0, 25]
  implicit_tls_ports: [0, 0, 465]
  allowed_cidrs: [10.1.0.0/16, "2001:db8::/64"]
  sources: [{ name: a, cidr: 10.1.2.3 }, { name: b, cidr: 10.0.0.0/8 }, { name: c, cidr: "2001:db8::1" }]`;
  expect(faultLines({ yaml })).toEqual([]);
});

test.each([
  ['api: { port: 587 }', 'listener.ports = [25,587]: must not have 587, which is api.port'],
  ['api: { port: 8420 }', 'webui.port = 8420: must not be 8420, which is api.port'],
  ['api: { tls_enabled: true, tls_port: 8025 }', 'api.tls_port = 8025: must not be 8025, which is api.port'],
  [
    'api: { tls_enabled: true }\nlistener: { implicit_tls_ports: [8026] }',
    'listener.implicit_tls_ports = [8026]: must not have 8026, which is api.tls_port',
  ],
  [
    'webui: { port: 2525, bind: ["127.0.0.1"] }\nlistener: { ports: [2525], bind: ["0.0.0.0"] }',
    'listener.ports = [2525]: must not have 2525, which is webui.port',
  ],
  [
    'api: { port: 2525, bind: ["10.0.0.1"] }\nlistener: { ports: [2525] }',
    'listener.ports = [2525]: must not have 2525, which is api.port',
  ],
  [
    'webui: { port: 8025, bind: ["10.0.0.1", "::1"] }\napi: { bind: ["10.0.0.2", "::"] }',
    'webui.port = 8025: must not be 8025, which is api.port',
  ],
])('no two listeners have the same port: %s', (yaml, line) => {
  expect(faultLines({ yaml }).map((found) => found.replace(/ \([^()]+\)$/, ''))).toEqual([line]);
});

test.each([
  [
    'free ones',
    'api: { port: 0, tls_enabled: true, tls_port: 0 }\nwebui: { port: 0 }\nlistener: { ports: [0] }',
  ],
  ['a port that is off', 'api: { port: null }\nlistener: { ports: [8025] }'],
  ['TLS that is off', 'api: { tls_port: 8025 }\nwebui: { port: 8026 }'],
  [
    'other addresses',
    'api: { port: 443, bind: ["10.0.0.1"] }\nwebui: { port: 443, bind: ["10.0.0.2", "::"] }',
  ],
  ['another family', 'api: { port: 443, bind: ["0.0.0.0"] }\nwebui: { port: 443, bind: ["::1"] }'],
])('the same port may stand twice: %s', (_, yaml) => {
  expect(faultLines({ yaml })).toEqual([]);
});

test('a relay besides inbox needs delivery.default_relay', () => {
  expect(faultLines({ yaml: `relays: [${SMTP_RELAY}]` })).toEqual([
    'delivery.default_relay: must be set, because a relay exists besides inbox: out (default)',
  ]);
  for (const name of ['out', 'inbox'])
    expect(faultLines({ yaml: `relays: [${SMTP_RELAY}]\ndelivery: { default_relay: ${name} }` })).toEqual([]);
});

test('one name in file and store is a fault', () => {
  const relay: OpenedRelay = {
    name: 'out',
    definition: '{"name":"out","type":"smtp","host":"a.example"}',
    disabled: false,
    password: null,
    unreadable: false,
  };
  const yaml = `relays: [${SMTP_RELAY}]\ndelivery: { default_relay: out }`;
  expect(faultLines({ yaml, stored: { settings: new Map(), relays: [relay] } })).toEqual([
    'relays.out: is declared twice (stored relay, file)',
  ]);
});

test('stored relays carry their password, and those whose password is unreadable are named', () => {
  const definition = '{"name":"out","type":"smtp","host":"a.example","username":"u"}';
  const relay = { name: 'out', definition, disabled: true, password: 'pw', unreadable: false };
  const lost = { ...relay, name: 'lost', definition: definition.replace('out', 'lost'), password: null };
  const relays = [relay, { ...lost, disabled: false, unreadable: true }];
  const settings = new Map([['delivery.default_relay', '"out"']]);
  const { config, faults } = resolve(sources({ stored: { settings, relays } }));
  expect(faults).toEqual([]);
  expect(config.unreadableRelays).toEqual(['lost']);
  expect(config.relays[1]).toMatchObject({ name: 'out', disabled: true, smtp: { password: 'pw' } });
});

test('secrets come from files too, and their values are never shown', () => {
  const readSecret = () => 'mysql://u:hunter2@db/x';
  for (const parts of [
    { readSecret, environment: { WAYBILL_DATABASE__URL_FILE: '/run/url' } },
    { readSecret, yaml: 'database: { url_file: /run/url }' },
    { yaml: 'database: { url: "mysql://u:hunter2@db/x" }' },
  ]) {
    const [line = ''] = faultLines(parts);
    expect(line).toContain('database.url: must be empty, for SQLite');
    expect(line).not.toContain('hunter2');
  }
  expect(faultLines({ environment: { WAYBILL_TLS__CERT_FILE: '/a', WAYBILL_TLS__KEY_FILE: '/b' } })).toEqual(
    [],
  );
  expect(faultLines({ yaml: 'database: { url_file: /gone }' })[0]).toContain('cannot be read');
  expect(faultLines({ yaml: 'api: { port_file: /x }' })[0]).toContain('no such setting');
});

test('a password that stands in the wrong place is not shown', () => {
  const relay = '{ name: out, type: smtp, host: h, username: u, password: hunter2 }';
  for (const [yaml, rule] of [
    [`relays: ${relay}`, 'must be a list of relays'],
    ['relays: [hunter2]', 'must be a map of fields'],
    [`relays: [[${relay}]]`, 'must be a map of fields'],
    [`delivery: [${relay}]`, 'must be a map of settings'],
    ['database: hunter2', 'must be a map of settings'],
    ['database: { url_file: [hunter2] }', 'must be a path'],
    ['relays: [{ name: out, type: smtp, host: h, password_file: [hunter2] }]', 'must be a path'],
  ] as const) {
    const lines = faultLines({ yaml }).join('\n');
    expect(lines).toContain(rule);
    expect(lines).not.toContain('hunter2');
  }
});

test('only variables with __ and three names without are ours', () => {
  const { faults, ignored } = resolve(
    sources({ environment: { WAYBILL_DATA: 'x', WAYBILL_CONFIG_FILE: 'y', WAYBILL_PORT: '1', HOME: '/' } }),
  );
  expect([faults, ignored]).toEqual([[], ['WAYBILL_PORT']]);
  expect(faultLines({ environment: { WAYBILL_API__PROT: '1' } })[0]).toContain('did you mean api.port?');
});

test("the file's routes are the whole table, even when there are none; else those that are stored hold", () => {
  const rules = JSON.stringify([{ name: 'kept', match: {}, via: ['inbox'] }]);
  const stored = { settings: new Map([['routes', rules]]), relays: [] };
  const namesFrom = (yaml: string | undefined) => {
    const { config, faults } = resolve(sources({ stored, ...(yaml === undefined ? {} : { yaml }) }));
    expect(faults).toEqual([]);
    return [config.routesOrigin, ...config.routes.map(({ name }) => name)];
  };
  expect(namesFrom(undefined)).toEqual(['stored', 'kept']);
  expect(namesFrom('api: {}')).toEqual(['stored', 'kept']);
  expect(namesFrom('routes: [{ match: {}, via: [inbox] }]')).toEqual(['file', 'rule-1']);
  expect(namesFrom('routes:')).toEqual(['file']);
  expect(namesFrom('routes: []')).toEqual(['file']);
});

test('a stored rule may name a relay that is gone since then; in the file that is a fault', () => {
  const rules = '[{"name":"r","match":{},"via":["gone","inbox"]}]';
  const stored = { settings: new Map([['routes', rules]]), relays: [] };
  const { config, faults } = resolve(sources({ stored }));
  expect(faults).toEqual([]);
  expect(missingRelays(config.routes, config.relays)).toEqual([{ rule: 'r', relay: 'gone' }]);
  expect(faultLines({ yaml: `routes: ${rules}` })).toHaveLength(1);
});

test('a default relay whose definition is faulty is told of once, with the reason in words', () => {
  const yaml = `
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: out.example.net, username: u, password_file: /nowhere }]
`;
  const readSecret = () => {
    throw Object.assign(new Error("ENOENT: no such file or directory, stat '/nowhere'"), { code: 'ENOENT' });
  };
  expect(faultLines({ yaml, readSecret })).toEqual([
    'relays.out.password_file = "/nowhere": cannot be read: there is no such file (file /etc/waybill.yaml)',
  ]);
});

test('a rule may name any relay that is declared, and a faulty relay is told of once', () => {
  const yaml = `
delivery: { default_relay: inbox }
relays: [{ name: out, type: smtp, host: "no host" }]
routes: [{ match: {}, via: [out, inbox] }]
`;
  expect(faultLines({ yaml })).toEqual([
    'relays.out.host = "no host": must be a host name or an IP address, or null (file /etc/waybill.yaml)',
  ]);
  // Of two by one name, the place says which.
  const twice = 'relays: [{ name: out, type: mx }, { name: out, type: smtp }]';
  expect(faultLines({ yaml: twice })).toContain('relays[1].host: must be given (file /etc/waybill.yaml)');
  expect(faultLines({ yaml: 'routes: [{ match: {}, via: [gone] }]' })).toEqual([
    'routes[0].via[0] = "gone": no such relay (file /etc/waybill.yaml)',
  ]);
});
