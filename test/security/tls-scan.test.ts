/**
 * What a scanner of TLS (testssl) finds at every listener: nothing worse than `LOW`, but that our certificate is our own. Each
 * handshake of it costs some processes, a listener a minute: `npm run prove` runs this, and `npm test` what makes the same
 * handshakes by itself (`test/e2e/tls.test.ts`).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { installed } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import type { Runtime } from '../peers/server.ts';
import { tell, times } from '../support/proof.ts';

/** How many listeners are scanned, of those below. */
const SCANS = times('tls_scans', 4);
const LIMIT_MS = 900_000;

/** What only whoever signs certificates for others could mend. */
const SELF_SIGNED = ['cert_chain_of_trust', 'cert_revocation'];
const WORSE_THAN_LOW = ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'];

const LISTENERS: readonly {
  readonly name: string;
  readonly target: (ports: Runtime) => readonly string[];
}[] = [
  { name: 'dashboard', target: ({ webui }) => [`https://localhost:${webui}`] },
  { name: 'SMTP with STARTTLS', target: ({ smtp }) => ['-t', 'smtp', `localhost:${smtp[0]}`] },
  { name: 'SMTP over TLS', target: ({ smtpTls }) => [`localhost:${smtpTls[0]}`] },
  { name: 'API over TLS', target: ({ apiTls }) => [`https://localhost:${apiTls}`] },
];

const CONFIGURATION = `
api: { port: 0, tls_enabled: true, tls_port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], implicit_tls_ports: [0], bind: ["127.0.0.1"] }
`;

/** Something that was looked at, and how it was judged. */
interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

async function scan(target: readonly string[], { onTestFinished }: TestContext): Promise<readonly Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-testssl-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'findings.json');
  const how = ['--quiet', '--color', '0', '--warnings', 'batch', '--nodns', 'none', '--ip', '127.0.0.1'];
  // Its exit status counts what it did not like.
  const said = await new Promise<string>((resolve) =>
    execFile(
      'testssl',
      [...how, '--fast', '--jsonfile', file, ...target],
      { timeout: LIMIT_MS },
      (_error, stdout) => resolve(stdout),
    ),
  );
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Finding[];
  } catch (error) {
    throw new Error(`testssl came to no end:\n${said.slice(-2000)}`, { cause: error });
  }
}

describeWith(['testssl'], 'TLS as a scanner sees it', () => {
  test.for(LISTENERS.slice(0, SCANS))(
    '$name: nothing worse than LOW, but for a certificate that nobody else signed',
    { timeout: LIMIT_MS },
    async ({ target }, context) => {
      const { runtime } = await installed(context, CONFIGURATION).start();
      const findings = await scan(target(runtime), context);
      const worse = findings.filter(({ severity }) => WORSE_THAN_LOW.includes(severity));
      expect(worse.filter(({ id }) => !SELF_SIGNED.includes(id))).toEqual([]);
      // So it looked, and says what it does not like.
      expect(worse.map(({ id }) => id)).toEqual(SELF_SIGNED);
      expect(findings).toContainEqual(expect.objectContaining({ id: 'TLS1_2', severity: 'OK' }));
      expect(findings).toContainEqual(expect.objectContaining({ id: 'TLS1', finding: 'not offered' }));
      tell('listeners scanned for weak TLS', {
        listeners: 1,
        findings: findings.length,
        'worse than low': 0,
      });
    },
  );
});
