import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';

/** Boxes of captured mail: which one a message is in, and one alone. */

const LETTER = { from: 'shop@example.com', to: ['ann@example.net'], text: 'Hi.' };

describeWith(NEEDED, 'the boxes of the inbox', () => {
  let dashboard: Dashboard;
  let ci: Client;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    ci = await dashboard.client('ci', '--test');
    for (const [subject, box] of [
      ['First', 'worker-1'],
      ['Second', 'worker-2'],
      ['Third', null],
    ])
      await ci.end(await ci.send({ ...LETTER, subject, box }));
    page = await dashboard.signedIn('/inbox');
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  const list = () => page.getByRole('list', { name: 'Messages' });
  const subjects = () =>
    list()
      .getByText(/^(First|Second|Third)$/)
      .allTextContents();

  test('are shown in the list and beside a message', async () => {
    await expect.poll(subjects).toEqual(['Third', 'Second', 'First']);
    await list().getByText('worker-1').waitFor();
    await list().getByText('Second').click();
    await page.getByRole('article', { name: 'Message' }).getByText('worker-2').waitFor();
  });

  test('are chosen one at a time, and emptied so', async () => {
    await page.goto('/inbox');
    await page.getByRole('combobox', { name: 'Box' }).click();
    await page.getByRole('option', { name: 'worker-2' }).click();
    await expect.poll(subjects).toEqual(['Second']);
    expect(new URL(page.url()).searchParams.get('box')).toBe('worker-2');
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('in the box worker-2').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Nothing found').waitFor();
    await page.goto('/inbox');
    await expect.poll(subjects).toEqual(['Third', 'First']);
  });
});
