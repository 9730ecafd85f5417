/** With what the server starts, and with what it does not. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { RunningServer, type Runtime } from '../peers/server.ts';
import { untilFound } from '../peers/watch.ts';
import { installed } from './service.ts';

const ROOT = join(import.meta.dirname, '../..');
const shell = promisify(execFile);
/** The rest of a configuration that starts nothing besides the API. */
const API_ALONE = 'webui: { port: null }\nlistener: { ports: [] }\n';

describe.concurrent('starting', () => {
  test('a wrong configuration ends the start with status 1 and one line for each fault', async (context) => {
    const { code, stdout, stderr } = await installed(
      context,
      `
api: { port: 99999, rate_limit_per_keys: 5 }
delivery: { default_relay: inbox }
relays: [{ name: out, type: smtp, port: 25 }]
log: { level: loud }
`,
    ).run('serve');
    expect([code, stdout]).toEqual([1, '']);
    const lines = stderr.trimEnd().split('\n').sort();
    expect(lines.map((line) => line.split(/[ :]/, 1)[0])).toEqual([
      'api.port',
      'api.rate_limit_per_keys',
      'log.level',
      'relays.out.host',
    ]);
    expect(lines[0]).toMatch(/^api\.port = 99999: .+ \(.*waybill\.yaml\)$/);
    expect(lines[1]).toContain('did you mean api.rate_limit_per_key?');
  });

  test('a port that is taken ends the start with status 1 and the name of its key', async (context) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    context.onTestFinished(() => void other.close());
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const configuration = `api: { port: ${port}, bind: ["127.0.0.1"] }\n${API_ALONE}`;
    const { code, stderr } = await installed(context, configuration).run('serve');
    const told = `api.port: cannot listen on 127.0.0.1 port ${port}: another program uses it;`;
    expect([code, stderr]).toEqual([1, `${told} stop that program, or choose another port\n`]);
  });

  test('port 0 takes a free port, which runtime.json names', async (context) => {
    const installation = installed(
      context,
      'api: { port: 0, tls_enabled: true, tls_port: 0 }\nwebui: { port: 0 }\n' +
        'listener: { ports: [0, 0], implicit_tls_ports: [0] }\n',
    );
    const server = await installation.start();
    const { api, apiTls, webui, smtp, smtpTls } = server.runtime;
    const ports = [api, apiTls, webui, ...smtp, ...smtpTls];
    for (const port of ports) expect(port).toBeGreaterThan(0);
    expect(new Set(ports).size).toBe(6);
    expect(JSON.parse(readFileSync(join(installation.dataDir, 'runtime.json'), 'utf8'))).toEqual({
      pid: expect.any(Number),
      version: expect.stringMatching(/^\d/),
      api,
      apiTls,
      webui,
      smtp,
      smtpTls,
    });
    await server.printed(new RegExp(`http://localhost:${api}\n`));
    expect((await fetch(`http://127.0.0.1:${api}/api/v1/ready`)).status).toBe(200);
  });

  test('the line to paste makes a key, on an old installation too', async (context) => {
    const installation = installed(context, `api: { port: 0 }\n${API_ALONE}`);
    await installation.run('keys', 'create', 'first');
    const server = await installation.start();
    await server.printed(/^ {2}curl .+$/m);
    const [, line] = /^ {2}(KEY=.+)$/m.exec(server.output) ?? [];
    const { stdout, stderr } = await shell('sh', ['-c', `${line} && echo "$KEY"`], { cwd: ROOT });
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^wb_live_\w+\n$/), '']);
  });

  test('port null switches a listener off, and commands still reach the server', async (context) => {
    const installation = installed(context, `api: { port: null }\n${API_ALONE}`);
    const { runtime } = await installation.start();
    expect(runtime).toMatchObject({ api: null, apiTls: null, webui: null, smtp: [], smtpTls: [] });
    const letter = ['--from', 'a@example.com', '--to', 'b@example.net', '--text', 'hi'];
    const { stderr, stdout } = await installation.run('send', ...letter, '--wait');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^status: +delivered$/m);
  });
});

describeWith(['script'], 'on a terminal', () => {
  test('serve logs text, and JSON with --json', async (context) => {
    for (const [option, line] of [
      ['', / info {2}service\.started /],
      ['--json', /"event":"service\.started"/],
    ] as const) {
      const { dataDir, environment } = installed(context, `api: { port: 0 }\n${API_ALONE}`);
      const command = `exec '${process.execPath}' src/main.ts serve --data '${dataDir}' ${option}`;
      const terminal = ['-qefc', command, '/dev/null'];
      const server = new RunningServer(spawn('script', terminal, { cwd: ROOT, env: environment }), dataDir);
      const { pid } = await untilFound(dataDir, () => readRuntime(dataDir));
      context.onTestFinished(() => void process.kill(pid, 'SIGKILL'));
      await server.printed(line);
    }
  });
});

function readRuntime(dataDir: string): Runtime | null {
  const file = join(dataDir, 'runtime.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Runtime) : null;
}
