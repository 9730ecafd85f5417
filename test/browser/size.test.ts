import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';
import { settled } from './looks.ts';

/** How much code a browser loads before a page is there. What the page then asks for depends on what is there. */

const MAX_FIRST_LOAD = 250 * 1024;
/** Files of code: a browser asks for six at a time, and each six cost a way there and back. */
const MAX_FILES = 22;
const CODE: readonly string[] = ['document', 'script', 'stylesheet'];

describeWith(NEEDED, 'the first load', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
  }, 60_000);
  afterAll(() => dashboard.stop());

  test.each([
    ['/', 'Overview'],
    ['/messages', 'Messages'],
    ['/routes', 'Routes'],
    ['/templates', 'Templates'],
    ['/settings/api-keys', 'Settings'],
  ])('of %s is under 250 KiB, compressed, in at most 22 files', async (path, heading) => {
    const page = await dashboard.signedIn('/first-steps');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    await settled(page);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      if (!CODE.includes(response.request().resourceType())) return;
      sizes.push(response.body().then((body) => gzipSync(body, { level: 9 }).length));
    });
    await page.goto(path);
    await page.getByRole('heading', { name: heading }).first().waitFor();
    await settled(page);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(MAX_FIRST_LOAD);
    expect(sizes.length).toBeLessThanOrEqual(MAX_FILES);
    await page.context().close();
  });
});
