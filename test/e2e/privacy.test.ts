/** A person is erased by the real server, which is killed meanwhile: afterwards no byte of it is found anywhere. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ErasureView } from '../../src/operations/privacy.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { configurationFor, startService } from './service.ts';

const ANN = 'ann.erasable@example.org';
/** What names her, in any case of letters. */
const TRACES = [
  ANN,
  'ann.erasable%40example.org',
  'Ann Erasable',
  'ErasableSubject',
  'ErasableText',
  'erasable-meta',
];

test('a person is erased, and no file has a byte of it', { timeout: 180_000 }, async ({ onTestFinished }) => {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  sink.script = {
    RCPT: ({ argument }) => (argument.includes('refused') ? `550 5.1.1 ${ANN} forwards no more` : undefined),
  };
  const service = await startService(configurationFor(sink.port));
  onTestFinished(() => service.stop());
  const { installation, client } = service;
  const letter = (to: string) => ({
    from: 'shop@example.com',
    to,
    subject: 'ErasableSubject',
    text: 'ErasableText',
    metadata: { who: 'erasable-meta' },
    tags: [`user:${ANN}`],
  });
  const hers = await client.send(letter(`Ann Erasable <${ANN.toUpperCase()}>`));
  await client.end(hers);
  const his = await client.send({
    ...letter('refused@example.org'),
    subject: 'Refused',
    text: 'x',
    metadata: {},
    tags: [],
  });
  await client.end(his);
  await installation.run('suppressions', 'add', ANN, '--note', 'Ann Erasable rang up');
  // She is found before.
  expect(await tracesIn(installation.dataDir)).not.toEqual([]);

  const asked = await installation.run('privacy', 'erase', ANN);
  expect(asked.stdout).toMatch(/^Erasing; erased-[0-9a-z]{24}@erased\.invalid /);
  await service.server.end('SIGKILL');
  await service.restart();

  const list = async (): Promise<ErasureView[]> =>
    JSON.parse((await installation.run('privacy', 'list', '--json')).stdout).erasures;
  const [done] = await vi.waitFor(
    async () => {
      const found = await list();
      expect(found[0]?.state).toBe('done');
      return found;
    },
    { timeout: 120_000, interval: 500 },
  );
  expect(done).toMatchObject({ state: 'done', notice: null });
  expect(done?.changed).toBeGreaterThan(4);
  // Also of a new backup, which is put among them.
  await installation.run('backup', join(installation.dataDir, 'after.tar'));
  expect(readdirSync(installation.dataDir)).toContain('after.tar');
  expect(await tracesIn(installation.dataDir)).toEqual([]);

  // What is left: that there was a message, and that she gets no more.
  const left = await service.client.record(hers);
  expect(left).toMatchObject({ status: 'delivered', recipients: [{ address: done?.pseudonym }] });
  expect((await service.client.record(his)).recipients[0]?.address).toBe('refused@example.org');
  const again = await service.client.post({ from: 'shop@example.com', to: ANN, subject: 'x', text: 'x' });
  expect(await again.json()).toMatchObject({ suppressed: [ANN] });
});

/** The names of files that contain a trace of her. */
async function tracesIn(folder: string): Promise<string[]> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names.flatMap((entry) => {
    if (!entry.isFile()) return [];
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'latin1').toLowerCase();
    return TRACES.filter((trace) => text.includes(trace.toLowerCase())).map((trace) => `${path}: ${trace}`);
  });
}
